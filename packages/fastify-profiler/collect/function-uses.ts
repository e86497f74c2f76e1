import { originalLocation } from '../base/location.ts'
import { toMicroseconds } from '../base/microseconds.ts'
import type { Location } from '../base/profile.ts'
import type { FunctionUse } from '../base/samples.ts'
import type { CallNode } from './call-tree.ts'

interface Sum {
  call: CallNode
  amount: number
  /** The number of samples by line. */
  ticks: Map<number, number>
}

/** Adds amounts up by function. */
export class FunctionUses {
  readonly #sums = new Map<string, Sum>()

  /** @param ticks the samples at the lines of the function */
  add(call: CallNode, amount: number, ticks: CallNode['ticks'] = []): void {
    const key = JSON.stringify([call.function, call.location])
    const sum = this.#sums.get(key) ?? { call, amount: 0, ticks: new Map<number, number>() }
    this.#sums.set(key, sum)
    sum.amount += amount
    for (const { line, ticks: count } of ticks) sum.ticks.set(line, (sum.ticks.get(line) ?? 0) + count)
  }

  /** The functions with the largest amounts, largest first. */
  largest(most: number): FunctionUse[] {
    return [...this.#sums.values()]
      .filter(({ amount }) => amount > 0)
      .sort((one, other) => other.amount - one.amount)
      .slice(0, most)
      .map(({ amount, call, ticks }) => ({
        function: call.function,
        kind: call.kind,
        location: call.location === null ? null : originalLocation(hottestLine(call.location, ticks)),
        amount: toMicroseconds(amount),
      }))
  }
}

/** The line with more than half of the samples; the function's first if there is none. */
function hottestLine(start: Location, ticks: ReadonlyMap<number, number>): Location {
  const all = [...ticks.values()].reduce((sum, count) => sum + count, 0)
  for (const [line, count] of ticks) {
    // V8 sometimes counts a line of another file, whose code was inlined.
    if (count > all / 2 && line > start.line) return { file: start.file, line, column: 1 }
  }
  return start
}
