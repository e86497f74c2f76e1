/** The process of one row of a comparison, forked by compare.ts: `node serve.js <server> <options as JSON>`. */
// For all servers, as in Portico's own start: without it, some of them would be slow by chance.
import '../src/serving/tick-object.ts'
import type { Measurable, Usage } from './measurable.ts'

const [, , name = '', options = '{}'] = process.argv
const { default: start }: { default: (options: unknown) => Promise<Measurable> } = await import(`./servers/${name}.js`)
const { port, close } = await start(JSON.parse(options))

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  tell({ cpu: user + system, memory: process.memoryUsage.rss() })
})
process.on('disconnect', async () => {
  await close()
  // The embedded database's thread would keep the process running.
  process.exit()
})
process.send?.({ port })

function tell(usage: Usage): void {
  process.send?.(usage)
}
