const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
/** Variables that make a program load or run something else than allowed. */
const INTERPRETED =
  /^(LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|PERL5OPT|RUBYOPT|PYTHONSTARTUP|GIT_SSH.*)$/;

/** Why a variable's name is not allowed for another program's process. Null if it is allowed. */
export function whyNoVariable(name: string): string | null {
  if (!NAME.test(name)) return 'is no name of a variable';
  if (name.startsWith('DROVER_')) return 'is set by Drover, as all DROVER_ variables are';
  if (!INTERPRETED.test(name)) return null;
  return 'is not passed: it would make programs run something else';
}
