import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t from 'tap'
import { type Config, readConfig } from '../src/config.ts'
import { build, openTestDatabase } from './support/site.ts'
import { makeFolder } from './support/folder.ts'
import { makeEmbeddedFolder } from './support/test-database.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const { scripts, workspaces } = JSON.parse(read('package.json'))
/** The instructions of the Dockerfile. */
const instructions = [
  ...read('Dockerfile')
    .replaceAll('\\\n', '')
    .matchAll(/^([A-Z]+) (.*)$/gm),
]
const imageEnvironment = Object.fromEntries(
  argumentsOf('ENV').flatMap(settings => settings.split(' ').map(setting => setting.split('='))),
)
const [, composed = ''] = /^ {2}portico:\n(.*?)^ {2}\w/ms.exec(read('compose.yaml')) ?? []
const composeEnvironment = Object.fromEntries(
  [...composed.matchAll(/^ {6}([A-Z_]+): (.*)$/gm)].map(([, name, value]) => [name, value]),
)
const unit = settingsOf(read('examples/portico.service'))
/** The files of the image, before it installs packages and builds. */
const image = copyImage()
/** Stands for each secret that the operator sets. */
const secret = 'x'.repeat(32)

/** The arguments with which npm start runs Node. */
const startWords = String(scripts.start).replace(/.* exec node /, '')

t.test('The image installs all workspaces of the lock file', async t => {
  for (const workspace of workspaces) t.ok(existsSync(join(image, workspace, 'package.json')), workspace)
  t.ok(existsSync(join(image, 'package-lock.json')))
})

t.test('The image has no tests, settings, data or builds of this machine', async t => {
  for (const name of ['.env', '.git', 'data', 'dist', 'test', 'node_modules']) t.notOk(existsSync(join(image, name)))
  for (const name of ['dist', 'test']) t.notOk(existsSync(join(image, 'packages/fastify-profiler', name)))
})

t.test('The files of the image are enough to build and to serve', async t => {
  symlinkSync(join(process.cwd(), 'node_modules'), join(image, 'node_modules'))
  const env = {
    ...process.env,
    ...imageEnvironment,
    NODE_OPTIONS: '',
    DATA_DIR: makeEmbeddedFolder(t),
    DATABASE_URL: 'embedded',
    COOKIE_SECRET: secret,
    HOST: '127.0.0.1',
    PORT: '0',
  }
  const options = { cwd: image, env }
  await promisify(execFile)('sh', ['-c', scripts.build], options)
  const [, ...words] = JSON.parse(String(argumentsOf('CMD')))
  const child = spawn(process.execPath, words, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const origin = await addressIn(child.stdout)
  t.equal((await fetch(`${origin}/health`)).status, 200)
  child.kill('SIGTERM')
  t.strictSame(await exited, [0, null])
})

t.test('The health check of the image passes while a server answers, and fails without one', async t => {
  const app = await build(t, { database: await openTestDatabase(t) })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const [, ...words] = JSON.parse(String(argumentsOf('HEALTHCHECK')).replace(/^.*CMD /, ''))
  const check = async () => {
    const child = spawn(process.execPath, words, { env: { PORT: port }, stdio: 'ignore' })
    const [code] = await once(child, 'exit')
    return code
  }
  t.equal(await check(), 0)
  await app.close()
  t.equal(await check(), 1)
})

for (const [name, environment] of Object.entries({
  Dockerfile: imageEnvironment,
  'compose.yaml': composeEnvironment,
  'examples/portico.service': environmentOf(unit),
})) {
  t.test(`${name} sets only variables that the server reads`, async t => {
    for (const variable of Object.keys(environment)) t.ok(isVariable(variable), variable)
  })
}

t.test('The image starts in production with a secret and a chosen database', async t => {
  t.match(readConfig({ ...imageEnvironment, DATABASE_URL: 'embedded', COOKIE_SECRET: secret }), {
    host: '0.0.0.0',
    dataDir: '/data',
  } satisfies Partial<Config>)
})

t.test('The servers of compose.yaml start in production with the secrets that it demands', async t => {
  const environment = Object.entries(composeEnvironment).map(([name, value]) => [
    name,
    String(value).replace(/\$\{\w+[^}]*\}/g, secret),
  ])
  t.match(readConfig({ ...imageEnvironment, ...Object.fromEntries(environment) }), {
    databaseUrl: `postgres://portico:${secret}@postgres/portico`,
    cookieSecrets: [secret],
    trustProxy: ['uniquelocal'],
  } satisfies Partial<Config>)
})

t.test('The image and the service of systemd start what npm start starts', async t => {
  t.equal(JSON.parse(String(argumentsOf('CMD'))).join(' '), `node ${startWords}`)
  t.equal(unit.get('ExecStart'), `/usr/bin/node ${startWords}`)
})

t.test(
  'The service of systemd starts in production with a secret and a chosen database, and keeps data where it may write',
  async t => {
    const { dataDir } = readConfig({ ...environmentOf(unit), DATABASE_URL: 'embedded', COOKIE_SECRET: secret })
    t.equal(dataDir, `/var/lib/${unit.get('StateDirectory')}`)
  },
)

/** What follows a keyword of the Dockerfile, each time. */
function argumentsOf(keyword: string): string[] {
  return instructions.filter(([, each]) => each === keyword).map(([, , rest]) => String(rest))
}

/** Copies what the Dockerfile copies out of the repository, without what .dockerignore excludes. */
function copyImage(): string {
  const folder = makeFolder(t)
  const ignored = read('.dockerignore')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.replaceAll('.', '\\.').replace('**/', '(?:.*/)?').replace(/\*$/, '[^/]*'))
    .map(pattern => new RegExp(`^${pattern}$`))
  for (const sources of argumentsOf('COPY').map(words => words.split(' '))) {
    if (String(sources[0]).startsWith('--from')) continue
    const target = join(folder, String(sources.pop()))
    for (const source of sources) {
      cpSync(source, statSync(source).isDirectory() ? target : join(target, basename(source)), {
        recursive: true,
        filter: path => !ignored.some(pattern => pattern.test(path)),
      })
    }
  }
  return folder
}

/** The address that a server logs. */
async function addressIn(log: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(log)) {
    const [, address] = /Server listening at (http:[^"]+)/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('The server ended.')
}

/** Whether the server reads a variable: only such a one can have a wrong value. */
function isVariable(name: string): boolean {
  if (name === 'NODE_ENV') return true
  try {
    readConfig({ [name]: '\0 /' })
    return false
  } catch (error) {
    return String(error).includes(`${name} must be `)
  }
}

/** The settings of a systemd unit by name. */
function settingsOf(text: string): Map<string, string> {
  return new Map([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))
}

/** What a systemd unit puts into the environment. */
function environmentOf(settings: Map<string, string>): Record<string, string> {
  return Object.fromEntries(
    String(settings.get('Environment'))
      .split(' ')
      .map(word => word.split('=')),
  )
}
