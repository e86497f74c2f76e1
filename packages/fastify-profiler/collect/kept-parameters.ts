import { attempt } from '../base/foreign-value.ts'

/** What is left of a request's limits for parameters. */
export interface Room {
  values: number
  characters: number
}

/** The parameters that fit into the room. Large ones are described, and the rest replaced by the total count. */
export function keptParameters(parameters: readonly unknown[], room: Room): unknown[] {
  const kept: unknown[] = []
  for (const parameter of parameters) {
    if (room.values <= 1) {
      kept.push(`… (${parameters.length} parameters)`)
      return kept
    }
    room.values--
    kept.push(keptParameter(parameter, room))
  }
  return kept
}

/** Never truncates a text, since half a secret would escape masking. */
function keptParameter(parameter: unknown, room: Room): unknown {
  if (typeof parameter === 'string') {
    if (parameter.length > room.characters) return `[${parameter.length} characters]`
    room.characters -= parameter.length
    return parameter
  }
  if (
    typeof parameter !== 'object' ||
    parameter === null ||
    parameter instanceof Date ||
    ArrayBuffer.isView(parameter)
  ) {
    return parameter
  }
  const text = jsonOf(parameter)
  const values = text.match(/[,[{]/g)?.length ?? 0
  if (text.length > room.characters || values > room.values) return `[object of ${text.length} characters]`
  room.characters -= text.length
  room.values -= values
  // What a class writes as JSON says more than its fields: the identifiers of MongoDB.
  return text === '' ? parameter : attempt((): unknown => JSON.parse(text), parameter)
}

function jsonOf(value: object): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // Circular, or holds a BigInt: pg cannot send it either.
    return ''
  }
}
