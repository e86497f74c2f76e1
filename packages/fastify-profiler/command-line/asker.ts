import { existsSync } from 'node:fs'
import type { Answer, Question } from '../ask/question.ts'
import { ask } from '../ask/questions.ts'
import { refusal } from '../ask/stored-profile.ts'
import { isObject, listOf, propertyOf } from '../base/foreign-value.ts'
import { metaNames, statelessVersion } from '../mcp/mcp-versions.ts'
import { isFrom, listeningApplications, namedApplication, type KnownApplication } from './known-application.ts'
import { storedSources, type StoredPlace } from './stored-sources.ts'

export interface AskerOptions extends StoredPlace {
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
    if (url !== null) return refusal(`No profiler answers at ${url}. ${whichUrl}`)
    const [newest] = applications
    if (newest !== undefined) tell(`The application at ${newest.url} does not answer. The answer comes from its files.`)
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

/** @returns null if the application does not answer in time */
async function askServer(
  application: KnownApplication,
  name: string,
  given: unknown,
  longest: number,
): Promise<Answer | null> {
  const meta = { [metaNames.version]: statelessVersion, [metaNames.capabilities]: {}, [metaNames.data]: true }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta: meta } }
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': statelessVersion,
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
