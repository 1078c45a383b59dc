//! The tables of a card's classifier: `root.entries` is in `[tables.root]`. A profile has all of them or none; another
//! generation of a card is another file.

use serde::{Deserialize, Serialize};

use super::NicKind;
use super::declare::{Constant, Declared, Of, components, is_default};
use super::range::Range;

components! {
    /// What look-ups in a card's tables take, and what operations on their rules cost, see docs/flow-tables.md.
    Tables at tables, listed in TABLES;
    /// The first table, of fixed size.
    root: Root {
        /// Rules that it has room for.
        entries = "root_entries": OF, Range::whole(16, 1 << 30, "rules");
        /// A look-up in an empty table.
        frame_ns = "root_frame_ns": OF, Range::real(0.0, 1e6, "ns");
        /// What each rule adds to a look-up.
        rule_ps = "root_rule_ps": OF, Range::real(0.0, 1e6, "ps");
        /// Share of the entries that an index finds; rules beyond it are searched one by one.
        indexed = "root_indexed": OF, Range::real(0.01, 1.0, "of the entries");
        /// What each rule beyond the index adds to a look-up.
        beyond_ns = "root_beyond_ns": OF, Range::real(0.0, 1e6, "ns");
        /// Frames that wait for a look-up, of a port.
        buffer_kib = "root_buffer_kib": OF, Range::real(1.0, 262_144.0, "KiB");
        /// The first rule, in all.
        first_us = "root_first_us": OF, Range::real(0.0, 1e6, "us");
        /// A rule that the driver writes, on top of one in a chained table.
        rule_us = "root_rule_us": OF, Range::real(0.0, 1e6, "us");
        /// A rule that matches IPv4, which the kernel has the firmware write.
        kernel_us = "root_kernel_us": OF, Range::real(0.0, 1e6, "us");
        /// What each rule beyond the index adds to writing one by the firmware.
        shift_us = "root_shift_us": OF, Range::real(0.0, 1e6, "us");
        /// How many times as long the firmware takes on a port that receives.
        beside = "root_beside": OF, Range::real(1.0, 1000.0, "times");
    }
    /// A table behind the root, a hash table in host memory with a cache on the card.
    chained: Chained {
        /// A look-up, beside what each table adds.
        frame_ns = "chained_frame_ns": OF, Range::real(0.0, 1e6, "ns");
        /// Lines of buckets that the card keeps.
        cache_lines = "chained_cache_lines": OF, Range::whole(1, 1 << 30, "lines");
        /// A bucket that the card has to fetch.
        miss_ns = "chained_miss_ns": OF, Range::real(0.0, 1e6, "ns");
        /// What the rules of a bucket add to fetching it, for a mean of one.
        collision = "chained_collision": OF, Range::real(0.0, 100.0, "of a miss");
        /// What a million rules add to a look-up: more memory to find a bucket in.
        million_ns = "chained_million_ns": OF, Range::real(0.0, 1e6, "ns");
        /// Rules for each bucket at which a table grows.
        full = "chained_full": OF, Range::real(0.05, 100.0, "rules a bucket");
        /// How many times as many buckets it has then.
        growth = "chained_growth": OF, Range::whole(2, 64, "times");
        /// Frames that wait for a look-up, of a port.
        buffer_kib = "chained_buffer_kib": OF, Range::real(1.0, 262_144.0, "KiB");
    }
    /// What operations on rules take a core.
    rules: Rules {
        /// The first rule of Ethernet alone, which sets the table up.
        first_us = "rule_first_us": OF, Range::real(0.0, 1e6, "us");
        /// What each hash table behind the first one of a rule adds to that.
        table_us = "rule_table_us": OF, Range::real(0.0, 1e6, "us");
        /// A rule with an entry of its own in one hash table.
        insert_us = "rule_insert_us": OF, Range::real(0.0, 1e6, "us");
        /// Each further entry of its own: another hash table, or two more actions.
        entry_us = "rule_entry_us": OF, Range::real(0.0, 1e6, "us");
        /// Each entry that it shares with other rules.
        shared_us = "rule_shared_us": OF, Range::real(0.0, 1e6, "us");
        /// Each action behind the first.
        action_us = "rule_action_us": OF, Range::real(0.0, 1e6, "us");
        /// What a rule takes longer while the driver's pools grow.
        warm_us = "rule_warm_us": OF, Range::real(0.0, 1e6, "us");
        /// Rules until they have grown.
        warm_rules = "rule_warm_rules": OF, Range::whole(0, 1 << 30, "rules");
        /// A rule that moves because its table grows.
        move_us = "rule_move_us": OF, Range::real(0.0, 1e6, "us");
        /// A deletion, without what follows.
        delete_us = "rule_delete_us": OF, Range::real(0.0, 1e6, "us");
        /// An update in place, without what follows.
        update_us = "rule_update_us": OF, Range::real(0.0, 1e6, "us");
        /// What the rules of a bucket add to either, for a mean of one.
        chain_us = "rule_chain_us": OF, Range::real(0.0, 1e6, "us");
        /// What more rules than the core's translations reach add to either.
        far_us = "rule_far_us": OF, Range::real(0.0, 1e6, "us");
        /// Rules that these reach.
        far_rules = "rule_far_rules": OF, Range::whole(1, 1 << 30, "rules");
        /// How many times as long an operation takes on a port that receives.
        beside = "rule_beside": OF, Range::real(1.0, 1000.0, "times");
    }
}

/// Cards may have tables.
const OF: Of = Of::Some(NicKind::Card);
