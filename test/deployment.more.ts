import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { DockerfileParser } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import t from 'tap'
import { parse } from 'yaml'
import { type Config, readConfig } from '../src/config.ts'
import { bodyLimit, grace, keepAliveTimeout } from '../src/serving/limits.ts'
import { build } from './support/build.ts'
import { makeFolder } from './support/folder.ts'
import { makeEmbeddedFolder, openTestDatabase } from './support/test-database.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const { engines, scripts, workspaces } = JSON.parse(read('package.json'))
const dockerfile = DockerfileParser.parse(read('Dockerfile'))
const imageEnvironment = Object.fromEntries(
  dockerfile.getENVs().flatMap(env => env.getProperties().map(property => [property.getName(), property.getValue()])),
)
const compose = parse(read('compose.yaml'))
const unit = settingsOf(read('examples/portico.service'))
/** The files of the image, before it installs packages and builds. */
const image = copyImage()
/** Stands for each secret that the operator sets. */
const secret = 'x'.repeat(32)

/** The arguments with which npm start runs Node. */
const startWords = String(scripts.start).replace(/.* exec node /, '')

t.test('The linter finds no mistake in the Dockerfile', async t => {
  t.strictSame(validate(read('Dockerfile')), [])
})

t.test('The Node of the image meets the engines of package.json', async t => {
  const [, floor] = /^>=(\d+)\.\d+$/.exec(engines.node) ?? []
  const images = dockerfile.getFROMs().map(from => from.getImage() ?? '')
  t.equal(new Set(images).size, 1, 'and is that which built it')
  const [, version] = /^node:(\d+)-slim$/.exec(String(images[0])) ?? []
  t.ok(Number(version) >= Number(floor))
})

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
  const [, ...words] = wordsOf(dockerfile.getCMDs()[0]?.getArgumentsContent())
  const child = spawn(process.execPath, words, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const origin = await addressIn(child.stdout)
  t.equal((await fetch(`${origin}/health`)).status, 200)
  child.kill('SIGTERM')
  t.strictSame(await exited, [0, null])
})

t.test('The image runs as a user without privileges, who owns the volume of the data', async t => {
  const instructions = dockerfile.getInstructions().map(each => `${each.getKeyword()} ${each.getArgumentsContent()}`)
  const user = instructions.indexOf('USER node')
  t.ok(instructions.indexOf(`RUN install --directory --owner=node --mode=700 ${imageEnvironment['DATA_DIR']}`) < user)
  t.ok(instructions.indexOf(`VOLUME ${imageEnvironment['DATA_DIR']}`) > user)
  t.equal(instructions.filter(each => each.startsWith('USER ')).length, 1)
})

t.test('The health check of the image passes while a server answers, and fails without one', async t => {
  const app = await build(t, { database: await openTestDatabase(t) })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const [, ...words] = wordsOf(
    dockerfile
      .getHEALTHCHECKs()[0]
      ?.getArgumentsContent()
      ?.replace(/^.*CMD /s, ''),
  )
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
  'compose.yaml': compose.services.portico.environment,
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
  const environment = Object.entries<string>(compose.services.portico.environment).map(([name, value]) => [
    name,
    value.replace(/\$\{\w+[^}]*\}/g, secret),
  ])
  t.match(readConfig({ ...imageEnvironment, ...Object.fromEntries(environment) }), {
    databaseUrl: `postgres://portico:${secret}@postgres/portico`,
    cookieSecrets: [secret],
    trustProxy: ['uniquelocal'],
  } satisfies Partial<Config>)
})

t.test('compose.yaml has no secrets of its own, and does not start without them', async t => {
  const text = read('compose.yaml')
  const secrets = [...text.matchAll(/^ +\w*(?:PASSWORD|SECRET)\w*: (.*)$/gm)].map(([, value]) => value)
  t.equal(secrets.length, 2)
  for (const value of secrets) t.match(value, /^\$\{\w+:\?[^}]+\}$/)
  for (const [, name] of text.matchAll(/\$\{(\w+)/g)) t.match(text, `\${${name}:?`)
})

t.test('What compose.yaml refers to exists', async t => {
  for (const [name, service] of Object.entries<Service>(compose.services)) {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      t.equal(condition, 'service_healthy', `${name} waits for ${other}`)
      t.ok(compose.services[other].healthcheck ?? compose.services[other].build, `${other} has a health check`)
    }
    for (const volume of service.volumes ?? []) t.ok(volume.replace(/:.*/, '') in compose.volumes, volume)
    for (const { source } of service.configs ?? []) t.ok(source in compose.configs, source)
  }
})

t.test('The image and the service of systemd start what npm start starts', async t => {
  t.equal(wordsOf(dockerfile.getCMDs()[0]?.getArgumentsContent()).join(' '), `node ${startWords}`)
  t.equal(unit.get('ExecStart'), `/usr/bin/node ${startWords}`)
})

t.test(
  'The service of systemd starts in production with a secret and a chosen database, and keeps data where it may write',
  async t => {
    const { dataDir } = readConfig({ ...environmentOf(unit), DATABASE_URL: 'embedded', COOKIE_SECRET: secret })
    t.equal(dataDir, `/var/lib/${unit.get('StateDirectory')}`)
  },
)

t.test('Whoever stops the server waits longer than its requests have to finish', async t => {
  t.ok(Number.parseInt(compose.services.portico.stop_grace_period) * 1000 > grace)
  t.ok(Number(unit.get('TimeoutStopSec')) * 1000 > grace)
})

t.test('Proxies take bodies as long as the server does', async t => {
  t.match(read('examples/nginx.conf'), `client_max_body_size ${bodyLimit / 1024}k;`)
  for (const file of ['examples/Caddyfile', 'compose.yaml']) {
    t.match(read(file), `request_buffers ${bodyLimit / 1024}KiB`)
  }
})

t.test('Proxies give up unused connections before the server does', async t => {
  for (const file of ['examples/Caddyfile', 'compose.yaml']) {
    const [, seconds] = /keepalive (\d+)s/.exec(read(file)) ?? []
    t.ok(Number(seconds) * 1000 < keepAliveTimeout, file)
  }
})

interface Service {
  depends_on?: Record<string, { condition: string }>
  volumes?: string[]
  configs?: { source: string }[]
}

/** Copies what the Dockerfile copies out of the repository, without what .dockerignore excludes. */
function copyImage(): string {
  const folder = makeFolder(t)
  const ignored = read('.dockerignore')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.replaceAll('.', '\\.').replace('**/', '(?:.*/)?').replace(/\*$/, '[^/]*'))
    .map(pattern => new RegExp(`^${pattern}$`))
  for (const copy of dockerfile.getCOPYs().filter(copy => copy.getFromFlag() === null)) {
    const sources = copy.getArguments().map(argument => argument.getValue())
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

/** The words of a command in JSON form. */
function wordsOf(json: string | null | undefined): string[] {
  return JSON.parse(String(json))
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
