import { existsSync } from 'node:fs'
import type { Answer, AskedSources, Question } from '../../core/feature.ts'
import { attempt, isObject, listOf, propertyOf } from '../../core/foreign-value.ts'
import { complain } from '../../core/guard.ts'
import { ProfileArchive } from '../../core/store/profile-archive.ts'
import { type Address, AddressFile, StoreDirectory } from '../../core/store/store-directory.ts'
import { makeViewContext } from '../../core/view/view-context.ts'
import { OpenExchanges } from '../../core/watch/exchange.ts'
import { panelsWith, storeOf } from '../../options.ts'
import { serverIdHeader } from '../home/live-rows.ts'
import { ask, refusal } from '../home/question.ts'

export interface KnownApplication {
  /** The URL of the profiler's pages, without a slash at the end. */
  url: string
  /** What its responses carry; null if whoever answers is believed. */
  id: string | null
}

/** Hosts of this machine. */
const local = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

function namedApplication(url: string): KnownApplication {
  return { url: url.replace(/\/+$/, ''), id: null }
}

/** The applications that listen, by the folder of their profiles, newest first. All carry the id of the newest. */
function listeningApplications(directory: string): KnownApplication[] {
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

interface StoredPlace {
  /** The folder of the profiles. */
  directory: string
  base: string
  /** The application's folder. */
  root: string
}

/** What answers are made from when the application does not run: the files of its profiles. */
export function storedSources({ directory, base, root }: StoredPlace): AskedSources {
  const store = storeOf({ directory }, complain)
  const explainPool = null
  return {
    app: null,
    archive: new ProfileArchive(new OpenExchanges(), store),
    base,
    explainPool,
    labels: [],
    panels: panelsWith([]),
    root,
    store,
    viewContext: profile => makeViewContext(profile, { base, editorUrl: null, explainPool, root, store }),
  }
}

interface AskerOptions extends StoredPlace {
  /** The URL of the profiler's pages; null to find the server by the files. */
  url: string | null
  /** Tells the user what is no answer. */
  tell: (sentence: string) => void
  /** Milliseconds that an application may take to answer. Default: ten seconds. */
  longest?: number
}

const whichUrl = 'It is the URL of the pages, such as http://localhost:3000/_profiler/.'

/** Asks the running application, or else reads its files. */
export class Asker {
  readonly #options: AskerOptions
  #sources: ReturnType<typeof storedSources> | null = null

  constructor(options: AskerOptions) {
    this.#options = options
  }

  /** The applications that are asked, in turn until one answers. */
  get applications(): KnownApplication[] {
    const { directory, url } = this.#options
    return url === null ? listeningApplications(directory) : [namedApplication(url)]
  }

  /** Asks a question. If there is neither a server nor a file, the answer says so. */
  async ask(question: Question, given: unknown): Promise<Answer> {
    const { applications } = this
    const { longest = 10_000, tell, url } = this.#options
    for (const application of applications) {
      const answer = await askServer(application, question.name, given, longest)
      if (answer !== null) return answer
    }
    if (url !== null) return refusal(`Nothing at ${url} answers questions. ${whichUrl}`)
    const [newest] = applications
    if (newest !== undefined) tell(`Nothing at ${newest.url} answers questions. The answer comes from the files.`)
    return this.#askFiles(question, given)
  }

  async #askFiles(question: Question, given: unknown): Promise<Answer> {
    const { directory } = this.#options
    if (!existsSync(directory)) {
      return refusal(
        `There are no profiles in ${directory}. Start the application with the profiler, or name its pages with --url.`,
      )
    }
    this.#sources ??= storedSources(this.#options)
    return ask(question, given, this.#sources)
  }
}

/** The version of the Model Context Protocol that an application is asked in, as agents ask it. */
const version = '2026-07-28'

const meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
  'fastify-profiler/data': true,
}

/** @returns null if the application does not answer in time */
async function askServer(
  application: KnownApplication,
  name: string,
  given: unknown,
  longest: number,
): Promise<Answer | null> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta: meta } }
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  }
  try {
    const response = await fetch(`${application.url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
      redirect: 'error',
      signal: AbortSignal.timeout(longest),
    })
    const answer = answerIn(await response.json())
    return isFrom(application, response) ? answer : null
  } catch {
    // Nobody listens, or something else, or a debugger has stopped the application.
    return null
  }
}

function answerIn(message: unknown): Answer | null {
  const result = propertyOf(message, 'result')
  const text = propertyOf(listOf(propertyOf(result, 'content'))[0], 'text')
  const refused = propertyOf(propertyOf(message, 'error'), 'message')
  if (typeof refused === 'string') return refusal(refused)
  if (!isObject(result) || typeof text !== 'string') return null
  return { text, data: propertyOf(result, 'structuredContent'), failed: propertyOf(result, 'isError') === true }
}
