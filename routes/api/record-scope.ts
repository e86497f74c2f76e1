import type { FastifyRequest } from 'fastify'
import type { Filters } from '../../src/records/repository.ts'
import { notAdmin } from './admission.ts'

/**
 * The filters that limit everybody but admins to the records of the current license.
 * @throws {HttpError} if somebody else asks for those of another license
 */
export function scopeOf(request: FastifyRequest, asked: Filters): Filters {
  if (request.user?.admin === true) return {}
  const { id } = request.requireLicense()
  if (asked['license_id'] !== undefined && asked['license_id'] !== id) throw notAdmin(request)
  return { license_id: id }
}
