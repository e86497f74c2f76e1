import { collectDefaultMetrics, Registry } from 'prom-client'

/**
 * Memory, processor time, garbage collection and the delay of the event loop. One registry for all apps of the process,
 * because prom-client never stops observing.
 */
export const processMetrics = new Registry()

collectDefaultMetrics({ register: processMetrics })
