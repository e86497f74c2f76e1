import { attempt } from '../base/foreign-value.ts'
import { serverIdHeader } from '../show/server-id.ts'
import { AddressFile, type Address } from '../store/address-file.ts'
import { StoreDirectory } from '../store/store-directory.ts'

export interface KnownApplication {
  /** The URL of the profiler's pages, without a slash at the end. */
  url: string
  /** What its responses carry; null if whoever answers is believed. */
  id: string | null
}

/** Hosts of this machine. */
const local = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** The application that was named by its URL. */
export function namedApplication(url: string): KnownApplication {
  return { url: url.replace(/\/+$/, ''), id: null }
}

/** The applications that listen, by the folder of their profiles, newest first. All carry the id of the newest. */
export function listeningApplications(directory: string): KnownApplication[] {
  const file = new AddressFile(new StoreDirectory(directory))
  const newest = file.read()
  if (newest === null) return []
  const others = file.readAll().filter(({ id }) => id !== newest.id)
  return [newest, ...others.reverse()].flatMap(({ url }) => localApplication({ url, id: newest.id }) ?? [])
}

/** The file may have come with a repository: it must name no server of somebody else, and only a path. */
function localApplication({ url, id }: Address): KnownApplication | null {
  return attempt(() => {
    const { hostname, origin, pathname } = new URL(url)
    return local.test(hostname) ? { ...namedApplication(origin + pathname), id } : null
  }, null)
}

/** Whether a response is the application's. Another may have its port since it was killed. */
export function isFrom({ id }: KnownApplication, { headers }: Response): boolean {
  return id === null || headers.get(serverIdHeader) === id
}
