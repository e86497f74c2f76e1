import type { onRequestHookHandler } from 'fastify'
import type { ProfileArchive } from '../store/profile-archive.ts'
import { untraced } from '../watch/traced-function.ts'

/** Carries the id of `server.json`, by which the command line knows the server of the folder that it reads. */
export const serverIdHeader = 'x-profiler-server'

/** A hook that shows that this server can read the folder of its profiles. All workers of a cluster can. */
export function serverId(archive: ProfileArchive): onRequestHookHandler {
  return untraced(function sendServerId(_request, { raw }, done) {
    const id = archive.serverId()
    // Replies that are hijacked lose the headers of Fastify.
    if (id !== null) raw.setHeader(serverIdHeader, id)
    done()
  })
}
