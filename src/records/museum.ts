import { exampleId, id, line } from './fields.ts'
import { licenses } from './license.ts'
import { recordKind } from './record-kind.ts'

const licenseId = id('The id of the license that the museum belongs to.')

export const museums = recordKind({
  name: 'museum',
  plural: 'museums',
  table: 'museums',
  purpose: "The museums that a license's site shows.",
  fields: {
    required: { license_id: licenseId, name: line('The name of the museum.') },
    optional: {},
    generated: {},
    secret: {},
  },
  knownBy: 'name',
  sorts: ['id', 'name'],
  constraints: { museums_license_id_fkey: { field: 'license_id', refersTo: licenses, cascades: true } },
  open: true,
  cacheKey: 'license_id',
  examples: {
    create: { license_id: exampleId, name: 'Museum of Bridges' },
    change: { name: 'Museum of Long Bridges' },
  },
})
