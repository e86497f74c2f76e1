import { Ajv, type ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import type { FieldError } from './field-error.ts'
import { formats } from './formats.ts'

/** @returns the errors, or an empty array if the value is valid */
export type Validate = (value: unknown) => FieldError[]

/** Coerces nothing: "true" is not a boolean, and ["a"] is not text. */
const ajv = new Ajv({ allErrors: true, formats: ajvFormats(), verbose: true })

/** Makes a validator of JSON values, for a schema with the formats of formats.ts. */
export function validator(schema: TSchema): Validate {
  const validate = ajv.compile(schema)
  return value => {
    validate(value)
    return validate.errors?.filter(({ keyword, params }) => !isOfUnion(keyword, params)).map(fieldError) ?? []
  }
}

/** Ajv types both properties as any. */
type FailedKeyword = ErrorObject<string, Record<string, unknown>> & { parentSchema?: { format?: unknown } }

function ajvFormats() {
  return Object.fromEntries(Object.entries(formats).map(([name, { accepts }]) => [name, accepts]))
}

function fieldError(error: FailedKeyword): FieldError {
  const { keyword, params, instancePath } = error
  const path = instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'required') return about(String(params['missingProperty']), 'is missing')
  if (keyword === 'additionalProperties') {
    const field = shortened(String(params['additionalProperty']))
    return { field, message: `${JSON.stringify(field)} is not a known field` }
  }
  return path === '' ? { field: '', message: `The value ${predicateOf(error)}` } : about(path, predicateOf(error))
}

/** Whether an error only says that a value is not null either. The union's other schema says what is wrong. */
function isOfUnion(keyword: string, params: FailedKeyword['params']): boolean {
  return keyword === 'anyOf' || params['type'] === 'null'
}

function about(field: string, predicate: string): FieldError {
  return { field, message: `${field} ${predicate}` }
}

/** Cuts a client's text short, so that the message fits into a line. */
function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}

const typeNames: Record<string, string> = {
  string: 'text',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'a JSON object',
}

function predicateOf({ keyword, params, message, parentSchema }: FailedKeyword): string {
  const limit = String(params['limit'])
  switch (keyword) {
    case 'type':
      return `must be ${expected(parentSchema?.format) ?? typeNames[String(params['type'])]}`
    case 'format':
      return `must be ${expected(params['format'])}`
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'maxItems':
      return `must have at most ${limit} items`
    case 'uniqueItems':
      return 'must not contain the same item twice'
    case 'enum':
      return `must be one of ${[params['allowedValues']].flat().join(', ')}`
    default:
      return String(message)
  }
}

/** What a format expects, or undefined if it is not one of formats.ts. */
function expected(format: unknown): string | undefined {
  return Object.entries(formats).find(([name]) => name === format)?.[1].expects
}
