import { id, languageTag, line } from './fields.ts'
import { recordKind } from './record-kind.ts'

export const languages = recordKind({
  name: 'language',
  plural: 'languages',
  table: 'languages',
  purpose: 'The languages that sites are served in.',
  fields: {
    required: {
      code: languageTag('The language tag (BCP 47).'),
      name: line('The name of the language, in that language.'),
    },
    optional: {},
    generated: {},
    secret: {},
  },
  filters: {
    license_id: {
      schema: id('The id of a license that has the language.'),
      link: { table: 'license_languages', own: 'language_id', other: 'license_id' },
    },
  },
  knownBy: 'code',
  sorts: ['id', 'code'],
  removalRefusal: 'This language is still in use: license languages refer to it.',
  constraints: { languages_code_key: { field: 'code' } },
  open: true,
  examples: { create: { code: 'pt-BR', name: 'Português' }, change: { name: 'Português (Brasil)' } },
})
