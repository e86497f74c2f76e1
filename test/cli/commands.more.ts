import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { makeFolder } from '../support/folder.ts'
import { makeEmbeddedFolder } from '../support/test-database.ts'

const program = fileURLToPath(new URL('../../cli/main.js', import.meta.url))
const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true

const skip = !hasTerminal && "it needs util-linux's script to open a terminal"
t.test('on a terminal, a command says that it creates the database', { skip }, async t => {
  const command = [process.execPath, ...process.execArgv, program, 'license', 'list'].join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...process.env, DATA_DIR: './new', DATABASE_URL: '' },
    cwd: makeFolder(t),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  t.equal(code, 0)
  t.match(output, /^Creating the database in \.\/new\.\r\nid +domain/)
})

t.test('a command in its own process does the same alone and beside a server', async t => {
  const folder = makeEmbeddedFolder(t)
  const start = async (...words: string[]) => {
    const env = { ...process.env, DATA_DIR: folder, DATABASE_URL: '' }
    const child = spawn(process.execPath, [...process.execArgv, program, ...words], {
      env,
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.end('a long password\n')
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code, output, errors }
  }
  const added = await start('user', 'add', 'first@museum.test', '--group', 'Staff', '--license', 'protected.localhost')
  t.strictSame(added, { code: 0, output: 'Added first@museum.test.\n', errors: '' })
  t.match(await start('user', 'password', 'first@museum.test', '--link'), {
    code: 0,
    output: /^http:\/\/protected\.localhost:3000\/password\/reset\?token=[\w-]{43}\n$/,
  })
  const opened = await openDatabase({ databaseUrl: undefined, dataDir: folder })
  t.teardown(() => opened.close())
  const addSecond = async () => await start('user', 'add', 'second@museum.test')
  t.strictSame(await addSecond(), { code: 0, output: 'Added second@museum.test.\n', errors: '' })
  const refusal = 'portico: There is already a user second@museum.test.\n'
  t.strictSame(await addSecond(), { code: 1, output: '', errors: refusal })
  t.match(await opened.db.selectFrom('users').select('email').orderBy('id').execute(), [
    { email: 'first@museum.test' },
    { email: 'second@museum.test' },
  ])
})
