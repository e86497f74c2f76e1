/** An option of the profiler that is invalid. */
export class InvalidOption extends Error {
  override readonly name = 'InvalidOption'
  /** Its name, such as "storeBounds.bytes". */
  readonly option: string
  /** The rest of the sentence that begins with the option's name. */
  readonly requirement: string

  constructor(option: string, requirement: string) {
    super(`The profiler's "${option}" ${requirement}`)
    this.option = option
    this.requirement = requirement
  }
}
