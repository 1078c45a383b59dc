//! Who may use how much of the cache: credits of flows, by Algorithm 1 (§4.1). Pure: no memory, no clock.
//!
//! A credit is room for one buffer in the LLC's share for I/O. A flow has *free* credits, and *used* ones that lie
//! with its frames in host memory. What is given away while it is used becomes a *debt*, which releases pay first.
//! A flow's *right* is what it has, and is owed, less what it owes. The total is `Size_LLC / Size_buf` (equation 1).
//!
//! **What is implemented.** The text of Algorithm 1 cannot be followed literally; `credits/literal.rs` shows what
//! comes of it. Each line has its sense here:
//!
//! | line | as printed | here | why |
//! |---|---|---|---|
//! | 5, 9 | from `n` to `n + m` | from `n + 1` | flow `n` is an old one: it would be given credits of the others, and each would give `m + 1` times |
//! | 9 | counts with `i` again | another name | `c_i` in the loop would be a new flow's |
//! | 4, 6 | each old flow gives `C_flow / n` to each new one | each gives what its right exceeds `C_flow` by | the same where rights are equal; after roundings and recycling it evens them out |
//! | 11-13 | `c_i / m` of a `c_i` that shrinks in the loop | `c_i / m` of the `c_i` before | the new flows would get less and less, and `c_i` keep a rest that is owed as well |
//! | 12 | `C_flow / n - c_i / m` is owed | the same, but no more than is used | a debt is paid by releases alone, so no other one can be paid |
//! | 21-22 | `max` | `min` | a debt would fall below zero, or be forgiven by a smaller payment |
//! | 21-22 | nobody gets what is paid | `c_j` grows by it | credits would vanish with each payment |
//! | 22 | the debt of line 21, already reduced | the debt before | the debtor would pay another amount than the creditor gets |
//! | 20-22 | `gamma_i / m` to each | the same, rounded up while there is any | a release of one credit would pay nothing |
//!
//! A right that is itself owed by a third flow passes on as that claim. Flows that are not established and those
//! that were retired have no right; what nobody has lies in a pool. Retiring a flow gives its right to the active
//! ones, alike (Q3).

use std::collections::BTreeMap;

#[cfg(test)]
mod literal;
#[cfg(test)]
mod tests;

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    free: u32,
    used: u32,
    /// Of its used credits: promised to others.
    owes: u32,
    /// Promised to it.
    due: u32,
    active: bool,
}

impl Flow {
    fn right(&self) -> u32 {
        self.free + self.used + self.due - self.owes
    }
}

/// The credits of all flows of a port.
#[derive(Clone, Debug)]
pub struct Credits {
    /// The flows, and the pool behind them.
    flows: Vec<Flow>,
    /// By debtor and creditor.
    debts: BTreeMap<(usize, usize), u32>,
    total: u32,
    active: u32,
    in_use: u32,
}

impl Credits {
    /// `total` credits, none of them given to any of `flows`.
    pub fn new(total: u32, flows: usize) -> Credits {
        let mut all = vec![Flow::default(); flows + 1];
        all[flows].free = total;
        Credits { flows: all, debts: BTreeMap::new(), total, active: 0, in_use: 0 }
    }

    /// Whether a flow takes part.
    #[inline(always)]
    pub fn is_active(&self, flow: usize) -> bool {
        self.flows[flow].active
    }

    /// Credits of a flow that lie with its frames.
    #[inline(always)]
    pub fn used(&self, flow: usize) -> u32 {
        self.flows[flow].used
    }

    /// Credits that a flow may spend.
    pub fn free(&self, flow: usize) -> u32 {
        self.flows[flow].free
    }

    /// Credits that lie with frames, of all flows.
    pub fn in_use(&self) -> u32 {
        self.in_use
    }

    /// All credits.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Takes a credit for a frame; whether there was one.
    #[inline(always)]
    pub fn spend(&mut self, flow: usize) -> bool {
        let flow = &mut self.flows[flow];
        let any = flow.free > 0;
        flow.free -= u32::from(any);
        flow.used += u32::from(any);
        self.in_use += u32::from(any);
        any
    }

    /// The host is done with `count` frames of a flow. Its debts are paid first (lines 17-25).
    pub fn release(&mut self, flow: usize, count: u32) {
        let count = count.min(self.flows[flow].used);
        self.flows[flow].used -= count;
        self.in_use -= count;
        let rest = if self.flows[flow].owes > 0 { self.pay(flow, count) } else { count };
        self.flows[flow].free += rest;
    }

    /// Establishes flows, or lets them take part again (lines 1-14); each new one gets an equal share. What would
    /// leave less than a credit for each is refused; whether it was not.
    pub fn establish(&mut self, new: &[usize]) -> bool {
        let new: Vec<_> = new.iter().copied().filter(|flow| !self.flows[*flow].active).collect();
        let fair = self.total / (self.active + new.len() as u32).max(1);
        if fair == 0 {
            return false;
        }
        let pool = self.flows.len() - 1;
        for giver in (0..=pool).rev() {
            let keep = if giver == pool { 0 } else { fair };
            if giver == pool || self.flows[giver].active {
                self.give(giver, self.flows[giver].right().saturating_sub(keep), &new, fair);
            }
        }
        for flow in new {
            self.flows[flow].active = true;
            self.active += 1;
        }
        true
    }

    /// Takes a flow's right from it, for the active ones; without any, for the pool.
    pub fn retire(&mut self, flow: usize) {
        if !core::mem::take(&mut self.flows[flow].active) {
            return;
        }
        self.active -= 1;
        let pool = self.flows.len() - 1;
        let mut takers: Vec<_> = (0..pool).filter(|other| self.flows[*other].active).collect();
        if takers.is_empty() {
            takers.push(pool);
        }
        self.give(flow, self.flows[flow].right(), &takers, u32::MAX);
    }

    /// Passes `amount` of a right on to the takers, until each has `most`: what is free first.
    fn give(&mut self, giver: usize, amount: u32, takers: &[usize], most: u32) {
        let free = amount.min(self.flows[giver].free);
        self.split(giver, free, takers, most);
        self.split(giver, amount - free, takers, most);
    }

    /// Passes `amount` on to those of the takers that have less than `most`, alike.
    fn split(&mut self, giver: usize, amount: u32, takers: &[usize], most: u32) {
        let need = |credits: &Credits, taker: usize| most.saturating_sub(credits.flows[taker].right());
        let wanted = takers.iter().fold(0u32, |sum, taker| sum.saturating_add(need(self, *taker)));
        let mut left = amount.min(wanted);
        while left > 0 {
            let mut waiting = takers.iter().filter(|taker| need(self, **taker) > 0).count() as u32;
            for &taker in takers {
                let need = need(self, taker);
                if need > 0 {
                    let share = need.min(left.div_ceil(waiting));
                    self.pass(giver, taker, share);
                    left -= share;
                    waiting -= 1;
                }
            }
        }
    }

    /// Passes on `amount` of a right, at most all of it: free credits first, then a debt for used ones, then claims.
    fn pass(&mut self, from: usize, to: usize, amount: u32) {
        let giver = &mut self.flows[from];
        let free = amount.min(giver.free);
        giver.free -= free;
        let debt = (amount - free).min(giver.used - giver.owes);
        self.flows[to].free += free;
        self.owe(from, to, debt);
        let mut claims = amount - free - debt;
        let debtors = self.debts.iter().filter(|((_, creditor), _)| *creditor == from);
        for (debtor, owed) in debtors.map(|((debtor, _), owed)| (*debtor, *owed)).collect::<Vec<_>>() {
            let part = owed.min(claims);
            claims -= part;
            self.settle(debtor, from, part);
            if debtor != to {
                self.owe(debtor, to, part);
            }
        }
    }

    fn owe(&mut self, debtor: usize, creditor: usize, amount: u32) {
        if amount > 0 {
            *self.debts.entry((debtor, creditor)).or_default() += amount;
            self.flows[debtor].owes += amount;
            self.flows[creditor].due += amount;
        }
    }

    /// A debt, or a part of it, is no more.
    fn settle(&mut self, debtor: usize, creditor: usize, amount: u32) {
        if let Some(owed) = self.debts.get_mut(&(debtor, creditor)) {
            *owed -= amount;
            if *owed == 0 {
                self.debts.remove(&(debtor, creditor));
            }
            self.flows[debtor].owes -= amount;
            self.flows[creditor].due -= amount;
        }
    }

    /// Pays a flow's creditors alike out of `amount`; what is left of it.
    #[cold]
    fn pay(&mut self, flow: usize, amount: u32) -> u32 {
        let mut left = amount;
        while left > 0 && self.flows[flow].owes > 0 {
            let creditors: Vec<_> = self
                .debts
                .range((flow, 0)..=(flow, usize::MAX))
                .map(|((_, to), owed)| (*to, *owed))
                .collect();
            for (at, (to, owed)) in creditors.iter().enumerate() {
                let part = (*owed).min(left.div_ceil((creditors.len() - at) as u32));
                self.settle(flow, *to, part);
                self.flows[*to].free += part;
                left -= part;
            }
        }
        left
    }
}
