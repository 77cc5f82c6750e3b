const UNDER_WAY = 'is under way';

/** The obstacle of a change while the forge runs a required check. */
export function checkUnderWay(name: string): string {
  return `The check ${name} ${UNDER_WAY}`;
}

export function isCheckUnderWay(obstacle: string | null): boolean {
  return obstacle?.endsWith(UNDER_WAY) === true;
}
