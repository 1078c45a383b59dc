/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * RTE_ETH_EVENT_FLOW_AGED: EAL's interrupt thread looks at rules that may have grown old, for as long as there are rules
 * with an age. It raises the event once, until the application asks by rte_flow_get_aged_flows() what is old.
 */

#include <rte_alarm.h>

#include "rxlab_flow.h"

#define LOOK_US	125000	/* the library tells ages no finer */

static void look(void *arg);

/* One look is ahead at a time, however many threads have created rules. */
static void
look_later(struct rxlab_dev *d)
{
	if (__atomic_exchange_n(&d->looks_ahead, true, __ATOMIC_ACQ_REL))
		return;
	if (rte_eal_alarm_set(LOOK_US, look, d) == 0)
		return;
	__atomic_store_n(&d->looks_ahead, false, __ATOMIC_RELEASE);
	PMD_LOG(ERR, "%s: no alarm: nobody will hear that flow rules grow old", rxlab_name(d));
}

static void
look(void *arg)
{
	struct rxlab_dev *d = arg;

	/* Before the look: a rule that comes during it is looked at by this one or the next. */
	__atomic_store_n(&d->looks_ahead, false, __ATOMIC_RELEASE);
	if (rxlab_flow_look(d->port))
		rte_eth_dev_callback_process(d->eth_dev, RTE_ETH_EVENT_FLOW_AGED, NULL);
	rxlab_flow_ages_begin(d);
}

/* A rule with an age may have been created. */
void
rxlab_flow_ages_begin(struct rxlab_dev *d)
{
	if (rxlab_flow_ages(d->port))
		look_later(d);
}

/* Nobody looks any more, when this returns. */
void
rxlab_flow_ages_end(struct rxlab_dev *d)
{
	rte_eal_alarm_cancel(look, d);
	__atomic_store_n(&d->looks_ahead, false, __ATOMIC_RELEASE);
}
