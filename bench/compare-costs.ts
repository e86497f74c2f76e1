import { quantile } from './quantile.ts'

const rounds = 15

/** Prints the µs of CPU of an optimisation and of the plain way. */
export async function compareCosts(
  name: string,
  times: number,
  act: () => unknown,
  plain: () => unknown,
): Promise<void> {
  const costs: number[] = []
  const plainCosts: number[] = []
  for (let round = 0; round < rounds; round++) {
    costs.push(await costOf(times, act))
    plainCosts.push(await costOf(times, plain))
  }
  console.log(
    name.padEnd(42),
    quantile(costs, 0.5).toFixed(2).padStart(7),
    'µs, plain',
    quantile(plainCosts, 0.5).toFixed(2).padStart(7),
  )
}

async function costOf(times: number, act: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  for (let time = 0; time < times; time++) {
    const made = act()
    if (made instanceof Promise) await made
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}
