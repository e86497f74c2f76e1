import type { Effort, Measures } from './compare.ts'

const columns = [
  '',
  'requests/s',
  'µs of CPU',
  'more',
  'ratio',
  'quartiles',
  'p50 ms',
  'p99 ms',
  'start ms',
  'idle MB',
  'MB',
]

/** Prints a comparison. Ratios and differences refer to the first row. */
export function printTable(
  title: string,
  [reference, ...others]: readonly Measures[],
  { generations, rounds, requests, connections }: Effort,
): void {
  if (reference === undefined) return
  const lines = [columns, ...[reference, ...others].map(measures => line(measures, reference))]
  const widths = columns.map((_, column) => Math.max(...lines.map(cells => cells[column]?.length ?? 0)))
  console.log(
    `\n${title}: ${generations} × ${rounds} rounds of ${requests} requests over ${connections} connections, ` +
      `Node ${process.versions.node}`,
  )
  for (const [name = '', ...cells] of lines) {
    console.log(
      [name.padEnd(widths[0] ?? 0), ...cells.map((cell, column) => cell.padStart(widths[column + 1] ?? 0))].join('  '),
    )
  }
}

function line({ row, costs, rates, latencies, starts, idleMemory, memory }: Measures, reference: Measures): string[] {
  const cost = median(costs)
  // Ratios within a round, because the machine's speed changes between rounds. 0.5 means twice the work.
  const ratios = costs.map((cost, round) => (reference.costs[round] ?? NaN) / cost)
  return [
    row.name,
    String(Math.round(median(rates))),
    cost.toFixed(1),
    (cost - median(reference.costs)).toFixed(1),
    median(ratios).toFixed(2),
    `${quantile(ratios, 0.25).toFixed(2)} to ${quantile(ratios, 0.75).toFixed(2)}`,
    milliseconds(latencies.percentile(50)),
    milliseconds(latencies.percentile(99)),
    String(Math.round(median(starts))),
    megabytes(median(idleMemory)),
    megabytes(median(memory)),
  ]
}

function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5)
}

function milliseconds(nanoseconds: number): string {
  return (nanoseconds / 1e6).toFixed(2)
}

function megabytes(bytes: number): string {
  return String(Math.round(bytes / 1e6))
}

/** The value below which a share of the numbers lies, interpolated between two of them. */
function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? NaN
  const above = sorted[Math.ceil(place)] ?? NaN
  return below + (above - below) * (place % 1)
}
