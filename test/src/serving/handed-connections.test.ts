import { fork } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { makeEmbeddedFolder } from '../../support/test-database.ts'

t.test('A server answers the connections that its parent hands over until it is told to end', async t => {
  const env = { ...process.env, DATA_DIR: makeEmbeddedFolder(t), DATABASE_URL: '', CONNECTIONS: 'handed' }
  const child = fork('dist/src/server.js', { env, silent: true })
  t.teardown(() => child.kill('SIGKILL'))
  t.strictSame(await once(child, 'message'), ['ready', undefined])

  const listener = createServer({ pauseOnConnect: true }, socket => {
    child.send('connection', socket)
  })
  t.teardown(() => listener.close())
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const { port } = listener.address() as AddressInfo
  // A connection that closes on the way arrives like this.
  child.send('connection')
  const [response] = await once(get({ port, host: '127.0.0.1', path: '/health', agent: false }), 'response')
  t.match(await text(response), 'alive')

  child.send('end')
  t.strictSame(await once(child, 'exit'), [0, null])
})
