/**
 * Compares optimisations of the profiler with the plain way, in µs of CPU. A profiled request takes 150 or more. Then
 * prints the CPU time of every masker for the text that it takes longest for.
 */
import { frameIn } from '#profiler/features/exceptions/describe-failures'
import { parseFrame } from '#profiler/features/exceptions/describe-failures'
import { findSecrets, searchSecrets } from '#profiler/core/mask/find-secrets'
import { PrefixIndex } from '#profiler/core/mask/published-secrets'
import { keptSource, readSource } from '#profiler/features/exceptions/source-excerpt'
import { hostilePieces, learnSpellings, maskers } from '#profiler/test/hostile-texts'
import { compareCosts } from './compare-costs.ts'

const statement = 'select * from licenses where domain = $1'
const prefixes = Array.from({ length: 139 }, (_, index) => `${String.fromCharCode(97 + (index % 26))}${index}_`)
const index = new PrefixIndex(prefixes.map(prefix => [prefix, prefix] as const))
const anyPrefix = new RegExp(prefixes.join('|'), 'g')
const frame = `    at Object.showVersion (${import.meta.url}:10:20)`

await compareCosts(
  'A text without secrets, remembered',
  20_000,
  () => findSecrets(statement),
  () => searchSecrets(statement),
)
await compareCosts(
  `Prefixes in ${statement.length} characters`,
  20_000,
  () => index.find(statement, 0),
  () => statement.matchAll(anyPrefix).next(),
)
await compareCosts(
  'The source map of a file, remembered',
  500,
  () => keptSource(import.meta.filename),
  () => readSource(import.meta.filename),
)
await compareCosts(
  'A frame of a stack, remembered',
  20_000,
  () => frameIn(frame),
  () => parseFrame(frame),
)

const length = 60_000
console.log(
  `\nThe slowest of ${hostilePieces.size} texts of ${length / 1000} kB. No masker should take more than 10 ms.`,
)
for (const [name, mask] of Object.entries(maskers)) {
  const times = [...hostilePieces].map(piece => {
    const text = piece.repeat(length / piece.length)
    return { piece, time: millisecondsOf(() => mask(text)) }
  })
  const { piece, time } = times.reduce((slowest, each) => (each.time > slowest.time ? each : slowest))
  console.log(name.padEnd(42), time.toFixed(1).padStart(7), 'ms', JSON.stringify(piece))
}
console.log(
  'spellings'.padEnd(42),
  millisecondsOf(() => learnSpellings(length))
    .toFixed(1)
    .padStart(7),
  'ms',
)

/** The least CPU time of five calls. */
function millisecondsOf(call: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    call()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}
