import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { loggerOptions } from '../../src/logging.ts'
import { terminalLog } from '../../src/terminal-log.ts'
import { addLicense, build, openTestDatabase } from '../support/site.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })

/** A terminal that keeps its text without colours. */
function terminal() {
  let text = ''
  return {
    isTTY: true,
    write(line: string | Uint8Array) {
      text += stripVTControlCharacters(String(line))
      return true
    },
    /** The lines without their times. */
    lines: () =>
      text
        .split('\n')
        .slice(0, -1)
        .map(line => line.replace(/^\[[\d:.]+\] /, '').trimEnd()),
  }
}

/** An app whose log goes to a terminal. */
async function buildOnTerminal(t: Parameters<typeof build>[0], environment: Record<string, string> = {}) {
  const screen = terminal()
  const app = await build(t, {
    database,
    environment,
    logger: loggerOptions('info', screen),
    async routes(app) {
      app.get('/', async () => 'here')
      app.get('/broken', async () => {
        throw new Error('It broke\nINFO: GET /forged 200')
      })
      app.get('/remark', async request => {
        request.log.info({ size: 2 }, 'a remark')
        request.log.info({ size: 3 })
        return 'here'
      })
    },
  })
  return { app, screen, ask: (url: string) => app.inject({ url, headers: { host: 'museum.test:3000' } }) }
}

for (const DEBUG of ['0', '1']) {
  t.test(`with DEBUG=${DEBUG} a terminal shows one line for each request, with its answer`, async t => {
    const { screen, ask } = await buildOnTerminal(t, { DEBUG })
    await ask('/?token=secret')
    await ask('/version')
    const [first, second, ...others] = screen.lines()
    t.match(first, /^INFO: GET \/ 200 \d+(\.\d)? ms museum\.test$/)
    t.match(second, /^INFO: GET \/version 404 \d+(\.\d)? ms museum\.test$/)
    t.strictSame(others, [])
  })
}

t.test('the line of a refused request says why', async t => {
  const { app, screen } = await buildOnTerminal(t)
  await app.inject({ url: '/', headers: { host: 'nobody.test' } })
  t.match(screen.lines(), [/^INFO: GET \/ 404 [\d.]+ ms nobody\.test No license found for "nobody\.test"\.$/])
})

t.test('an error is shown with its stack, and no line of its message looks like one of the log', async t => {
  const { screen, ask } = await buildOnTerminal(t)
  await ask('/broken')
  const [message, forged, ...stack] = screen.lines()
  t.equal(message, 'ERROR: It broke')
  t.equal(forged, '    INFO: GET /forged 200')
  t.ok(stack.some(line => /^ +at .*terminal-log\.test/.test(line)))
  t.match(stack.at(-1), /^INFO: GET \/broken 500/)
})

t.test("a route's own line is one line, with its fields", async t => {
  const { screen, ask } = await buildOnTerminal(t)
  await ask('/remark')
  t.match(screen.lines(), ['INFO: a remark {"size":2}', 'INFO:  {"size":3}', /^INFO: GET \/remark 200/])
})

t.test('nothing in a line controls the terminal', async t => {
  let text = ''
  const log = terminalLog({
    write(line) {
      text += String(line)
      return true
    },
  })
  const hostile = '\u001b[2J\u009b2J\u007f\b\r\f\u202e\u2066 \\u001b \\'
  const line = { level: 50, time: 0, [hostile]: hostile, msg: hostile, err: { message: hostile, stack: hostile } }
  log.write(JSON.stringify(line))
  const res = { method: hostile, url: hostile, host: hostile }
  log.write(JSON.stringify({ level: 30, time: 0, responseTime: 1, res }))
  t.notMatch(stripVTControlCharacters(text), /[\p{Cc}\p{Bidi_Control}](?<!\n)/u)
  t.match(text, '[2J')
})

t.test('refusals of requests that never end are shown by themselves, and not kept for ever', async t => {
  const screen = terminal()
  const log = terminalLog(screen)
  for (let id = 0; id < 1001; id++) {
    log.write(JSON.stringify({ level: 30, time: 0, reqId: `req-${id}`, statusCode: 400, msg: `refused ${id}` }))
  }
  t.strictSame(screen.lines(), ['INFO: refused 0 {"statusCode":400}'])
})
