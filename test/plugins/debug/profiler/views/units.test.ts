import t from 'tap'
import { count, formatBytes, formatDuration, formatTime } from '../../../../../plugins/debug/profiler/views/units.ts'

t.test('durations keep three figures and the unit a person would say', async t => {
  t.same([0, 0.004, 0.424, 15, 48.26, 1234, 61_500].map(formatDuration), ['0 ms', '< 0.01 ms', '0.42 ms', '15 ms', '48.3 ms', '1.23 s', '1 min 2 s'])
})

t.test('a duration nobody knows is not zero', async t => {
  t.same([null, undefined, NaN].map(formatDuration), ['n/a', 'n/a', 'n/a'])
})

t.test('a minute that is rounded up is a whole one', async t => {
  t.equal(formatDuration(119_900), '2 min 0 s')
})

t.test('sizes keep three figures', async t => {
  t.same([null, 312, 7500, 4_200_000, 4_345_000_000].map(formatBytes), ['n/a', '312 B', '7.5 kB', '4.2 MB', '4.35 GB'])
})

t.test('times are UTC and sort as text', async t => {
  t.equal(formatTime(Date.UTC(2026, 10, 21, 1, 11, 7, 482)), '2026-11-21 01:11:07.482 UTC')
})

t.test('a time that is none does not throw', async t => {
  t.equal(formatTime(NaN), 'n/a')
})

t.test('counts agree with their noun', async t => {
  t.same([count(1, 'query', 'queries'), count(2, 'query', 'queries'), count(0, 'line')], ['1 query', '2 queries', '0 lines'])
})
