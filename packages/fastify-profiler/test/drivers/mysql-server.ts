import { once } from 'node:events'
import { type Connection, createServer } from 'mysql2'
import type { Test } from 'tap'

/**
 * mysql2's own server: it answers every statement with one row. "fail" fails, and "sleep 20" takes 20 ms.
 * @returns the port
 */
export async function serveMysql(t: Test): Promise<number> {
  const server = createServer(() => {})
  const sessions = new Set<Connection>()
  server.on(
    'connection',
    (
      session: Connection &
        Record<'serverHandshake' | 'writeOk' | 'writeError' | 'writeTextResult', (...args: unknown[]) => void>,
    ) => {
      sessions.add(session)
      session.on('error', () => {})
      session.serverHandshake({
        protocolVersion: 10,
        serverVersion: '8.0.0',
        connectionId: 1,
        statusFlags: 2,
        characterSet: 8,
        capabilityFlags: 0xffffff ^ 0x800,
      })
      session.on('query', (sql: string) => {
        // A response begins a new sequence of packets.
        Reflect.set(session, 'sequenceId', 1)
        const [, milliseconds = '0'] = /sleep (\d+)/.exec(sql) ?? []
        setTimeout(() => {
          if (sql.startsWith('fail')) session.writeError({ code: 1064, message: `cannot ${sql}` })
          else if (/^(?:start|commit|update)/i.test(sql)) session.writeOk({ affectedRows: 3 })
          else {
            const column = {
              catalog: 'def',
              schema: '',
              table: '',
              orgTable: '',
              name: 'one',
              orgName: 'one',
              characterSet: 33,
              columnLength: 4,
              columnType: 253,
              flags: 0,
              decimals: 0,
            }
            session.writeTextResult([{ one: '1' }], [column])
          }
          // The next command begins a new sequence of packets.
          Reflect.set(session, 'sequenceId', 0)
        }, Number(milliseconds))
      })
    },
  )
  server.listen(0)
  await once(Reflect.get(server, '_server'), 'listening')
  t.teardown(() => {
    for (const session of sessions) session.destroy()
    Reflect.apply(server.close, server, [])
  })
  return Number(Object(Reflect.get(server, '_server').address()).port)
}
