import type { AskedQuery } from '../recorded-queries.ts'

/** Commands whose arguments are keys and positions, none of them a value. */
const keysOnly =
  /^(?:B?[LR]?POP|[HSZ]?(?:SCAN|LEN)|H?EXISTS|EXPIRE|[HM]?GET|HGETALL|HMGET|H?DEL|HKEYS|TTL|PTTL|TYPE|UNLINK|DECR|INCR|DECRBY|INCRBY|KEYS|L(?:RANGE|INDEX|TRIM)|S(?:CARD|MEMBERS|POP)|Z(?:CARD|RANGE\w*|COUNT)|SELECT|PING|TIME|DBSIZE|GETDEL|RANDOMKEY|STRLEN)$/i

/** Commands that carry nothing but secrets. */
const secretive = /^(?:AUTH|HELLO|ACL|CONFIG|MIGRATE)$/i

const hidden = '?'

/** A command with the keys that it is for. Values may be anything, also secrets, and are left out. */
export function readCommand(name: string, args: readonly unknown[]): AskedQuery {
  const statement = name.toLowerCase()
  return { system: 'redis', statement, parameters: parametersOf(name, args), connection: null }
}

/** Commands that are sent together, as one. */
export function readBatch(kind: string, count: number): AskedQuery {
  return { system: 'redis', statement: `${kind} of ${count} commands`, parameters: [], connection: null }
}

function parametersOf(name: string, args: readonly unknown[]): unknown[] {
  if (secretive.test(name)) return args.map(() => hidden)
  const texts = args.map(arg => (Buffer.isBuffer(arg) ? arg.toString() : String(arg)))
  return keysOnly.test(name) ? texts : texts.map((text, index) => (index === 0 ? text : hidden))
}
