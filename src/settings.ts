import type { TObject } from 'typebox'
import { variableNames } from './config.ts'
import { StartError } from './errors/start-error.ts'
import { describeFieldErrors, fromText, keywordsOf, validator } from './records/validation.ts'

/** An application that is built on Portico declares the types of its settings here. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- An interface, so that it can be merged
export interface Settings {}

/**
 * Reads the variables that an application adds to Portico's.
 * @param variables the environment, and beneath it the file .env. Empty values count as unset.
 * @throws {StartError} if one has the name of Portico's, is missing or is invalid. The message leaves out values.
 */
export function readSettings(schema: TObject | undefined, variables: NodeJS.ProcessEnv): Settings {
  if (schema === undefined) return {}
  const names = Object.keys(schema.properties)
  const taken = names.find(name => variableNames.includes(name))
  if (taken !== undefined) throw new StartError(`The setting ${taken} has the name of one of Portico's variables.`)
  const settings = Object.fromEntries(
    names.flatMap(name => {
      const field = schema.properties[name]
      const text = variables[name]
      if (text) return [[name, fromText(field, text)]]
      const { default: value } = keywordsOf(field)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const errors = validator(schema)(settings)
  if (errors.length > 0) throw new StartError(describeFieldErrors(errors))
  return settings
}
