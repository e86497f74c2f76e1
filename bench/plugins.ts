/** Measures what each plugin of the site costs a request, by comparing sites that have one more plugin each. */
import { compare, type Row } from './compare.ts'
import { dropDatabase, makeDatabase } from './bench-database.ts'
import { pluginNames } from './servers/site-of.ts'
import { quantile } from './quantile.ts'

// Many short rounds, because the machine's speed changes over time by more than a plugin costs.
const effort = { generations: 3, rounds: 15, requests: 2000, warmUp: 30_000, connections: 8 }

const database = await makeDatabase(1)
try {
  const site = (name: string, count: number, ownServers = true): Row => ({
    name,
    server: 'site-of',
    options: { database, count, ownServers },
    request: { path: '/opening', headers: { host: 'bench.example' }, status: 200 },
  })
  const all = await compare(
    [
      site('Fastify', 0, false),
      site('+ http-servers', 0),
      ...pluginNames.map((name, place) => site(`+ ${name}`, place + 1)),
    ],
    effort,
  )
  console.log(
    `\nµs of CPU for a small JSON answer, and the difference to the row before: ` +
      `medians of ${effort.generations * effort.rounds} rounds, Node ${process.versions.node}`,
  )
  for (const [
    place,
    {
      row: { name },
      costs,
    },
  ] of all.entries()) {
    const before = all[place - 1]?.costs ?? costs
    // Differences within a round, because the machine's speed changes between rounds.
    const more = costs.map((cost, round) => cost - (before[round] ?? NaN))
    console.log(
      name.padEnd(20),
      quantile(costs, 0.5).toFixed(1).padStart(6),
      quantile(more, 0.5).toFixed(2).padStart(6),
    )
  }
} finally {
  await dropDatabase(database)
}
