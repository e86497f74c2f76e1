import { originalLocation, pathOf } from '../call-site.ts'
import { type AnyFunction, attempt, isFunction, propertyOf } from '../foreign-value.ts'
import type { Location } from '../profile.ts'

const places = new WeakMap<object, Location | null>()
/** The files of scripts, by their ids. */
const scripts = new Map<string, string>()

/** Where a function stands, which V8 tells the inspector alone. Asked once for each: the first takes about 15 ms. */
export function placeOf(subject: unknown): Location | null {
  if (!isFunction(subject)) return null
  const known = places.get(subject)
  if (known !== undefined) return known
  const place = attempt(() => findPlace(subject), null)
  places.set(subject, place)
  return place
}

const handle = 'fastify-profiler:function'

/** The inspector answers at once, since it is in the same thread. */
function findPlace(subject: AnyFunction): Location | null {
  const { Session } = process.getBuiltinModule('node:inspector')
  const session = new Session()
  session.connect()
  let place: Location | null = null
  try {
    Reflect.set(globalThis, handle, subject)
    session.post('Runtime.evaluate', { expression: `globalThis['${handle}']` }, (_error, { result: { objectId } }) => {
      if (objectId === undefined) return
      session.post(
        'Runtime.getProperties',
        { objectId, ownProperties: true },
        (_error, { internalProperties = [] }) => {
          const found = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')
          const at: unknown = found?.value?.value
          // Bound and native functions have none.
          if (at === undefined) return
          const file = fileOf(String(propertyOf(at, 'scriptId')), session)
          const [line, column] = [Number(propertyOf(at, 'lineNumber')), Number(propertyOf(at, 'columnNumber'))]
          if (file !== undefined && file !== '') place = originalLocation({ file, line: line + 1, column: column + 1 })
        },
      )
    })
  } finally {
    Reflect.deleteProperty(globalThis, handle)
    session.disconnect()
  }
  return place
}

function fileOf(script: string, session: InstanceType<typeof import('node:inspector').Session>): string | undefined {
  if (!scripts.has(script)) {
    // Quicker than Debugger.enable, which hashes the texts of all scripts.
    session.post('Profiler.getBestEffortCoverage', (_error, { result }) => {
      for (const { scriptId, url } of result) scripts.set(scriptId, pathOf(url))
    })
  }
  // The coverage lacks a script of which no function has run.
  if (!scripts.has(script)) {
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, pathOf(params.url)))
    session.post('Debugger.enable')
  }
  return scripts.get(script)
}
