import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort, isAnswering } from './serving.ts'

/** A proxy in front of two servers, run with the documented example configuration. */
export interface Proxy {
  port: number
  stop: () => Promise<void>
}

interface ProxyKind {
  /** A file in examples/. */
  example: string
  /** The arguments with which the command only checks its configuration. */
  check: (words: string[]) => string[]
  /** The arguments of its command, for a configuration in its own folder. */
  words: (configuration: string, folder: string) => string[]
}

const kinds: Record<string, ProxyKind> = {
  nginx: {
    example: 'nginx.conf',
    check: words => [...words, '-t'],
    words(configuration, folder) {
      const main = join(folder, 'main.conf')
      const bodies = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map(name => `${name}_temp_path ${join(folder, name)};`)
        .join(' ')
      writeFileSync(
        main,
        `daemon off; pid ${join(folder, 'pid')}; events {} http { access_log off; ${bodies} include ${configuration}; }`,
      )
      return ['-p', folder, '-e', join(folder, 'errors'), '-c', main]
    },
  },
  haproxy: {
    example: 'haproxy.cfg',
    check: words => [...words, '-c'],
    words: configuration => ['-db', '-f', configuration],
  },
  caddy: {
    example: 'Caddyfile',
    check: ([, ...words]) => ['validate', ...words],
    words: configuration => ['run', '--adapter', 'caddyfile', '--config', configuration],
  },
}

export const proxyNames = Object.keys(kinds)

/** Starts a proxy. Undefined if it is not installed. */
export async function startProxy(name: string, servers: [number, number]): Promise<Proxy | undefined> {
  const kind = kinds[name]
  // Debian installs them outside the PATH of ordinary users.
  const program = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
    .map(place => join(place, name))
    .find(existsSync)
  if (kind === undefined || program === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), `portico-${name}-`))
  const port = await freePort()
  const ports: Record<string, number> = { 8080: port, 3001: servers[0], 3002: servers[1] }
  const configuration = join(folder, kind.example)
  const example = readFileSync(join('examples', kind.example), 'utf8')
  writeFileSync(
    configuration,
    example.replace(/(?<=127\.0\.0\.1:)\d+/g, documented => String(ports[documented])),
  )
  const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const words = kind.words(configuration, folder)
  // Fails with what the proxy says about the configuration.
  await promisify(execFile)(program, kind.check(words), { env })
  const child = spawn(program, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', chunk => {
    errors = (errors + String(chunk)).slice(-10_000)
  })
  const ended = once(child, 'exit')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  while (!(await isAnswering(port))) {
    if (hasEnded()) throw new Error(`${name} did not start: ${errors}`)
    await sleep(50)
  }
  return {
    port,
    async stop() {
      child.kill()
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}
