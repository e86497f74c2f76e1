/** A service that the applications call. Sends its origin to its parent. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

const statuses: Record<string, number> = { broken: 503, forbidden: 403, missing: 404 }
let asked = 0

const server = createServer(async (request, response) => {
  const [, name = ''] = request.url?.split('/') ?? []
  if (name === 'reset') return request.socket.destroy()
  if (name === 'slow') await setTimeout(300)
  if (name === 'calm') await setTimeout(30)
  response.statusCode = name === 'flaky' && asked++ % 2 === 0 ? 503 : (statuses[name] ?? 200)
  response.end(name)
})
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('disconnect', () => server.close())
