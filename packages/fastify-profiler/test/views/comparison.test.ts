import t from 'tap'
import type { ProfileSummary } from '../../core/summary.ts'
import { compareSets, setBlocks, setSentence } from '../../features/compare/compare-sets.ts'
import { compare } from '../../features/compare/compare.ts'
import type { Comparison, SpanPair, StatementPair } from '../../features/compare/comparison.ts'
import { comparisonParts } from '../../features/compare/comparison-page.ts'
import { profile, summary } from './example-profile.ts'

function comparisonWith(changes: Partial<Comparison>): Comparison {
  const one = profile()
  return { ...compare(one, { ...one, token: 'later' }, { a: [], b: [] }), ...changes }
}

/** Nine requests before the moment 100 and nine since, with these durations. */
function setsOf(before: Partial<ProfileSummary>, since: Partial<ProfileSummary>) {
  const requests = Array.from({ length: 18 }, (_, n) => ({
    ...summary(profile()),
    time: n < 9 ? n : 100 + n,
    ...(n < 9 ? before : since),
  }))
  return compareSets({ method: 'GET', route: '/cart', at: 100 }, requests)
}

t.test('a route that became faster, slower or stayed says so, with its medians', async t => {
  const queries = { count: 0, duration: 0 }
  const faster = setsOf(
    { duration: 20, queries, times: [['sql', 20]] },
    { duration: 10, queries, times: [['hook', 10]] },
  )
  t.equal(setSentence(faster), 'Since then 10.0 ms faster, certain: 20.0 ms → 10.0 ms')
  const slower = setsOf({ duration: 10, size: null }, { duration: 20 })
  t.match(setSentence(slower), /^Since then 10\.0 ms slower, certain: 10\.0 ms → 20\.0 ms$/)
  const equal = setsOf({ duration: 10 }, { duration: 10 })
  t.match(setSentence(equal), /^No difference, equal: /)
  t.match(setBlocks(equal, ''), [{}, { text: 'Judged by 9 requests like A and 9 like B.' }])
  t.match(setBlocks(slower, '').at(-1), {
    section: 'Medians',
    blocks: [{ rows: [['Time', '10.0 ms', '20.0 ms'], ['Queries'], ['Query time'], ['Response', '0 B', '5.12 kB']] }],
  })
})

t.test('a comparison with very many rows says how many it leaves out', async t => {
  const span: SpanPair = { kind: 'sql', name: 'select', isPart: false, location: null, change: null, a: null, b: null }
  const statement: StatementPair = { shape: 'select', location: null, a: { count: 1, time: 1 }, b: null }
  const { shapes, timelines } = comparisonParts(
    comparisonWith({
      spans: Array.from({ length: 301 }, () => span),
      statements: Array.from({ length: 302 }, () => statement),
    }),
  )
  t.match(timelines, { blocks: [{}, { fold: '292 more' }, { text: '1 more row not shown.' }] })
  t.match(shapes, { blocks: [{}, { text: '2 more statements not shown.' }] })
})
