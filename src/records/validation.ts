import { Ajv, type ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import type { FieldError } from './field-error.ts'
import { formats } from './formats.ts'

/** @returns what is wrong; nothing, where all is well */
export type Validate = (value: unknown) => FieldError[]

const options = { allErrors: true, formats: { ...ajvFormats(), 'date-time': true }, verbose: true } as const
/** Nothing is taken for what it is not: "true" is no flag, and ["a"] no text. */
const exact = new Ajv(options)
/** What arrives as text, each value of it once. */
const coercing = new Ajv({ ...options, coerceTypes: true })

/** Makes the validator of a JSON value by a schema whose formats are those of formats.ts. */
export function validator(schema: TSchema): Validate {
  return withFieldErrors(exact, schema)
}

/** Makes one of what a query has, which is text: numbers and flags are made of it where the schema has them. */
export function queryValidator(schema: TSchema): Validate {
  return withFieldErrors(coercing, schema)
}

function withFieldErrors(ajv: Ajv, schema: TSchema): Validate {
  const validate = ajv.compile(schema)
  return value => {
    validate(value)
    return validate.errors?.map(fieldError) ?? []
  }
}

/** Ajv's own type says any of both. */
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
    return { field, message: `${JSON.stringify(field)} is no field of this` }
  }
  return path === '' ? { field: '', message: `What is sent ${predicateOf(error)}` } : about(path, predicateOf(error))
}

function about(field: string, predicate: string): FieldError {
  return { field, message: `${field} ${predicate}` }
}

/** What somebody made up, and what is to fit into a line. */
function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}

const typeNames: Record<string, string> = {
  string: 'text',
  boolean: 'true or false',
  integer: 'a whole number',
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
      return limit === '1' ? 'must not be empty' : `must have ${limit} characters or more`
    case 'maxLength':
      return `must have ${limit} characters at most`
    case 'maxItems':
      return `must have ${limit} items at most`
    case 'uniqueItems':
      return 'must not have an item twice'
    case 'enum':
      return `must be one of ${[params['allowedValues']].flat().join(', ')}`
    default:
      return String(message)
  }
}

/** What text of a format is; undefined where JSON Schema itself says it. */
function expected(format: unknown): string | undefined {
  return Object.entries(formats).find(([name]) => name === format)?.[1].expects
}
