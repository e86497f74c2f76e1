import { performance } from 'node:perf_hooks'
import { compare } from '../features/compare/compare.ts'
import { profile, span } from '../test/views/example-profile.ts'

// How long the comparison of two requests takes.

const turns = 50

/** A request with a thousand queries of a hundred statements. */
function requestOf(each: number) {
  const spans = Array.from({ length: 1000 }, (_, index) => {
    const place = Math.floor(index / 10)
    const location = { file: '/srv/museum/routes/cart.ts', line: place + 1, column: 5 }
    const name = `select table_${place}`
    return span({
      kind: 'query',
      name,
      hook: null,
      parent: 0,
      detail: name,
      location,
      start: index * each,
      duration: each,
    })
  })
  return profile({ duration: 1000 * each, spans: [span({ kind: 'handler', duration: 1000 * each }), ...spans] })
}

const [one, other] = [requestOf(1), requestOf(2)]
const took = Array.from({ length: turns }, () => {
  const before = performance.now()
  compare(one, other)
  return performance.now() - before
}).sort((one, other) => one - other)
console.log(
  `1,000 spans: least ${took[0]?.toFixed(1)} ms, median ${took[turns / 2]?.toFixed(1)} ms, most ${took.at(-1)?.toFixed(1)} ms`,
)
