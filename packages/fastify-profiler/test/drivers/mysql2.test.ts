import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { createPool } from 'mysql2/promise'
import t, { type Test } from 'tap'
import { explainQuery } from '../../features/explain/explain-query.ts'
import { watchedServers } from '../../features/queries/drivers/driver.ts'
import { pageOf, profiledApp, profileOf as profileOfUrl } from '../profiled-app.ts'
import { profileOf } from './driver-app.ts'
import { serveMysql } from './mysql-server.ts'
import { standIn } from './stand-in-server.ts'

async function poolOn(t: Test, port: number) {
  const pool = createPool({ host: '127.0.0.1', port, user: 'root' })
  t.teardown(() => pool.end())
  return pool
}

t.test('options with named values have these as parameters, and a change has the number of rows', async t => {
  const pool = await poolOn(t, await serveMysql(t))
  const { database } = await profileOf(t, async () => {
    await pool.query({ sql: 'update users set id = :id', values: { id: 8, token: 'x' } })
  })
  t.match(database, { rows: 3, queries: [{ parameters: [{ id: 8, token: '[masked]' }], rows: 3 }] })
})

t.test('statements that differ in the values in their texts are one shape everywhere', async t => {
  const pool = await poolOn(t, await serveMysql(t))
  const app = await profiledApp(t)
  app.get('/', async () => {
    for (const name of ['ada', 'bob', 'eve']) await pool.query(`select one from museums where name = '${name}'`)
    return (await pool.query('select one from museums where id = ?', [7])).length
  })
  const { database, token } = await profileOfUrl(app, '/')
  t.match(database, { count: 4, shapes: 2 })
  t.match(await pageOf(app, `search?q=${encodeURIComponent('statement:"name = \'zoe\'"')}`, 'text/markdown'), token)
  const home = await pageOf(app, '')
  t.match(home, 'select one from museums where name = ?')
  t.notMatch(home, "name = 'ada'")
  t.notMatch(await pageOf(app, `${token}?panel=database`, 'text/markdown'), '$1')
})

t.test('a server that freezes while it explains a query keeps no socket of the profiler open', async t => {
  const port = await serveMysql(t)
  const proxy = await standIn(t, socket => {
    // Reads nothing more once it freezes, not even the end.
    const server = connect(port, '127.0.0.1')
    server.on('error', () => {}).pipe(socket)
    socket.on('data', data => {
      if (String(data).includes('version()')) socket.pause()
      else server.write(data)
    })
    socket.on('close', () => server.destroy())
  })
  const pool = await poolOn(t, proxy)
  const { database } = await profileOf(t, () => pool.query('select one from museums'))
  const [query] = database?.queries ?? []
  const server = watchedServers('mysql').find(({ name }) => name.startsWith(`127.0.0.1:${proxy}/`))
  if (query === undefined || server === undefined) return t.fail('nothing was sent')
  const sockets: Socket[] = []
  const keep = (message: unknown) => sockets.push(Object(message).socket)
  subscribe('net.client.socket', keep)
  const explained = await explainQuery(server, query, false, 500)
  unsubscribe('net.client.socket', keep)
  t.match(explained, { message: 'The database takes too long to explain it.' })
  // The others are those of the stand-in, which stay open.
  t.ok(sockets[0]?.destroyed)
})
