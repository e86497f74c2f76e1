/** What is left of the room for the parameters of one request. */
export interface Room {
  values: number
  characters: number
}

const longestFingerprint = 1000

/** As many of a query's parameters as there is room for, too large ones described; the last says how many there were. */
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

/** Never a part of a text: half a secret would not be recognised where secrets are masked. */
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
  return parameter
}

function jsonOf(value: object): string {
  try {
    return String(JSON.stringify(value))
  } catch {
    // It refers to itself, or holds a number that JSON has no form for; pg refuses to send it, too.
    return ''
  }
}

/** Text that equal parameters have in common and others do not; null where finding out would cost too much. */
export function fingerprintOf(parameters: readonly unknown[]): string | null {
  let text = ''
  for (const parameter of parameters) {
    if (typeof parameter === 'object' && parameter !== null && !(parameter instanceof Date)) return null
    text += `${typeof parameter} ${parameter instanceof Date ? Number(parameter) : String(parameter)}\0`
    if (text.length > longestFingerprint) return null
  }
  return text
}
