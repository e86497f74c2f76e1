import { tracingChannel } from 'node:diagnostics_channel'
import { isObject, listOf, propertyOf } from '../../base/foreign-value.ts'
import { driverBoundary } from '../driver-boundary.ts'
import { beginQuery, type QueryCall } from '../queries.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import type { Driver } from './driver.ts'
import { readBatch, readCommand } from './redis-command.ts'

/** Tracing channels, and the query that the start of each tells of; null if it is none or told by another one. */
const queriesOf: Record<string, (context: object) => AskedQuery | null> = {
  'node-redis:command': context => {
    const [name, ...args] = listOf(propertyOf(context, 'args'))
    // The commands of a batch are told together.
    return 'batchMode' in context ? null : readCommand(String(name), args)
  },
  'node-redis:batch': context =>
    readBatch(String(propertyOf(context, 'batchMode')).toLowerCase(), Number(propertyOf(context, 'batchSize'))),
}

/** All libraries that tell of their queries on tracing channels, fully, and do nothing differently for it. */
export const channelDriver: Driver = {
  subscribe() {
    for (const [name, read] of Object.entries(queriesOf)) follow(name, read)
  },
}

function follow(name: string, read: (context: object) => AskedQuery | null): void {
  const calls = new WeakMap<object, QueryCall>()
  const callOf = (context: unknown) => (isObject(context) ? calls.get(context) : undefined)
  tracingChannel(name).subscribe({
    start: function started(context: unknown) {
      driverBoundary.guard(() => {
        if (!isObject(context)) return
        const asked = read(context)
        const call = asked === null ? null : beginQuery(asked, started)
        if (call !== null) calls.set(context, call)
      }, undefined)
    },
    end() {},
    asyncStart() {},
    asyncEnd: context => callOf(context)?.end(null),
    error: context => callOf(context)?.fail(propertyOf(context, 'error')),
  })
}
