/** The server of a show, in a process of its own that tells what it holds: forked by server-process.ts. */
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { usageNow } from './usage.ts'

const app = await buildApp({ config: readConfig(process.env), logger: { level: 'info', stream: { write () {} } } })
const origin = await app.listen({ port: 0, host: '127.0.0.1' })
process.on('message', () => { process.send?.(usageNow()) })
process.on('disconnect', async () => {
  await app.close()
  process.exit()
})
process.send?.({ port: Number(new URL(origin).port) })
