/** A process that serves one row of a comparison: `node serve.js <server> <its options as JSON>`, forked by compare.ts. */
// For all servers, as Portico does so itself: otherwise it is luck which of them are slow.
import '../src/serving/tick-object.ts'
import type { Measurable, Usage } from './server.ts'

const [, , name = '', options = '{}'] = process.argv
const { default: start }: { default: (options: unknown) => Promise<Measurable> } = await import(`./servers/${name}.js`)
const { port, close } = await start(JSON.parse(options))

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  tell({ cpu: user + system, memory: process.memoryUsage.rss() })
})
process.on('disconnect', async () => {
  await close()
  // A database that lives in a thread of this process would keep it running.
  process.exit()
})
process.send?.({ port })

function tell(usage: Usage): void {
  process.send?.(usage)
}
