/** Why a query has no plan, as a sentence. */
export class NoPlan extends Error {
  override readonly name = 'NoPlan'
}
