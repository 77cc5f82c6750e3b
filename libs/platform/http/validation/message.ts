import type { ValidationArguments } from 'class-validator';

type Message = string | ((args: ValidationArguments) => string) | undefined;

/** A rule's message without the field's name, because the problem document has a member for it. */
export function messageOf(message: Message, args: ValidationArguments): string {
  const text = typeof message === 'function' ? message(args) : (message ?? 'is not valid');
  return text
    .replace(/\$constraint(\d+)/g, (_, index: string) =>
      String(args.constraints[Number(index) - 1]),
    )
    .replace(/^\$property /, '')
    .replaceAll('$property', args.property)
    .replaceAll('$target', args.targetName);
}
