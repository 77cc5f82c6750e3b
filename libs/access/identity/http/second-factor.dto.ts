import { ApiProperty } from '@nestjs/swagger';
import { Text } from '#lib/http';
import { MAX_PASSWORD_LENGTH } from '../passwords/passwords.js';

/** Six digits of the app, or a recovery code. */
export const CODE_PATTERN = { regexp: /^[\w -]{6,40}$/, words: 'be a code' };

export class StartSecondFactorDto {
  @Text({ max: MAX_PASSWORD_LENGTH }) password!: string;
}

export class SecondFactorCodeDto {
  @Text({ max: 40, pattern: CODE_PATTERN, description: 'A code of the app, or a recovery code.' })
  code!: string;
}

export class SecondFactorDto {
  @ApiProperty() enabled!: boolean;
  @ApiProperty({ description: 'The number of unused recovery codes.' }) recoveryCodes!: number;
}

export class NewSecondFactorDto {
  @ApiProperty({ description: 'The secret for the app, in base32. Only this answer shows it.' })
  secret!: string;
  @ApiProperty({ description: 'The same as `otpauth:` address, for a QR code.' }) uri!: string;
}

export class RecoveryCodesDto {
  @ApiProperty({ type: [String], description: 'Each is valid once. Only this answer shows them.' })
  recoveryCodes!: string[];
}
