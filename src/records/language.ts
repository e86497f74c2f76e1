import { id, languageTag, line } from './fields.ts'
import { recordKind } from './record-kind.ts'

const code = languageTag('The language tag (BCP 47).')

export const languages = recordKind({
  name: 'language',
  plural: 'languages',
  table: 'languages',
  fields: {
    required: { code, name: line('The name of the language, in that language.') },
    optional: {},
    generated: {},
    secret: {},
  },
  filters: {
    code: { schema: code },
    license_id: {
      schema: id('The id of a license that has the language.'),
      link: { table: 'license_languages', own: 'language_id', other: 'license_id' },
    },
  },
  knownBy: 'code',
  sorts: ['id', 'code'],
  constraints: { languages_code_key: { field: 'code' } },
  open: true,
  examples: { id: '4', create: { code: 'pt-BR', name: 'Português' }, change: { name: 'Português (Brasil)' } },
})
