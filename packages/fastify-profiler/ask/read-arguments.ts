import { isRecord } from '../base/foreign-value.ts'
import { callText } from './answer-text.ts'
import type { Arguments, Parameter, Question } from './question.ts'

const tokensUsual = 2000
const tokensMost = 50_000

/** Every question has it. */
export const maxTokens: Parameter = {
  type: 'integer',
  description: 'Most tokens of the answer, estimated as 4 bytes each. Default: 2000.',
  minimum: 500,
  maximum: tokensMost,
}

/** The limit of an answer that shall have more than one with this limit. */
export function moreTokens(tokens: number): number {
  return Math.min(tokensMost, 2 * tokens)
}

/** Characters of one argument. */
const longestText = 4000

/** Bytes of all arguments. Answers repeat them in their calls for more, up to twice. */
const argumentsMost = 500

type Asked = Pick<Question, 'name' | 'parameters' | 'required'>

/** Checks the arguments of a question. @returns a sentence if they are invalid */
export function readArguments({ name, parameters, required }: Asked, given: unknown): Arguments | string {
  if (!isRecord(given)) return `The arguments of ${name} are an object.`
  const known: Record<string, Parameter> = { ...parameters, max_tokens: maxTokens }
  const names = Object.keys(known).join(', ')
  for (const [key, value] of Object.entries(given)) {
    const parameter = Object.hasOwn(known, key) ? known[key] : undefined
    if (parameter === undefined) return `An argument is unknown. ${name} takes ${names}.`
    if (!isValid(value, parameter)) return `The argument ${key} must be ${formOf(parameter)}.`
  }
  if (Buffer.byteLength(callText({ tool: name, arguments: given })) > argumentsMost) {
    return `The arguments of ${name} must have at most ${argumentsMost} bytes together.`
  }
  const missing = required.filter(key => !(key in given))
  if (missing.length > 0) return `${name} needs ${missing.join(' and ')}. It takes ${names}.`
  const text = (key: string) => (typeof given[key] === 'string' && given[key] !== '' ? given[key] : null)
  const number = (key: string) => (typeof given[key] === 'number' ? given[key] : null)
  return { text, number, tokens: number('max_tokens') ?? tokensUsual, given }
}

function isValid(value: unknown, { type, minimum = 0, maximum = Infinity, enum: values }: Parameter): boolean {
  if (type === 'integer') return Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum
  return typeof value === 'string' && value.length <= longestText && (values === undefined || values.includes(value))
}

function formOf({ type, minimum = 0, maximum, enum: values }: Parameter): string {
  if (type === 'integer') return `a whole number from ${minimum}${maximum === undefined ? ' on' : ` to ${maximum}`}`
  return values === undefined ? `text of at most ${longestText} characters` : `one of ${values.join(', ')}`
}
