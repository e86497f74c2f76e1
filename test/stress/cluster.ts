import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './serving.ts'

/** A PostgreSQL server for one show, which can be stopped. */
export interface Cluster {
  url: string
  start: () => void
  /** Stops it without closing connections, like a machine that fails. */
  stop: () => void
  remove: () => void
}

/**
 * Needs initdb and pg_ctl in PG_BIN, in the PATH or where Debian puts them.
 * PostgreSQL refuses to run as root, so root runs it as "postgres".
 */
export async function makeCluster(): Promise<Cluster> {
  const binaries = findBinaries()
  const user = process.getuid?.() === 0 ? idsOf('postgres') : undefined
  const folder = mkdtempSync(join(tmpdir(), 'portico-cluster-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const port = await freePort()
  const run = (program: string, ...words: string[]) =>
    execFileSync(join(binaries, program), words, { ...user, cwd: folder, stdio: 'ignore' })
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`
  const start = () => run('pg_ctl', 'start', '--wait', '-D', data, '-l', join(folder, 'log'), '-o', options)
  const stop = () => run('pg_ctl', 'stop', '--wait', '-m', 'immediate', '-D', data)
  run('initdb', '-D', data, '-U', 'postgres', '--auth=trust')
  start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop,
    remove() {
      stop()
      rmSync(folder, { recursive: true })
    },
  }
}

function findBinaries(): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  const places = [
    process.env['PG_BIN'],
    ...(process.env['PATH'] ?? '').split(':'),
    ...versions.map(version => join(debian, version, 'bin')),
  ]
  const place = places.find(place => place !== undefined && existsSync(join(place, 'initdb')))
  if (place === undefined) {
    throw new Error("PostgreSQL's initdb and pg_ctl were not found. Set PG_BIN to their folder.")
  }
  return place
}

function idsOf(user: string) {
  const [uid = 0, gid = 0] = ['-u', '-g'].map(option => Number(spawnSync('id', [option, user]).stdout))
  if (uid === 0) throw new Error(`There is no user ${user} to run PostgreSQL as.`)
  return { uid, gid }
}
