import { ApiProperty } from '@nestjs/swagger';
import { Text } from '#lib/http';
import { TokenPairDto } from './auth-answers.dto.js';

const RANDOM = { regexp: /^[\w.~-]{43,128}$/, words: 'be a text of the answer of the start' };

export class CompleteSingleSignOnDto {
  @Text({
    max: 4_096,
    description: 'The query of the address to which the provider sent the browser back.',
  })
  parameters!: string;
  @Text({ max: 128, pattern: RANDOM }) state!: string;
  @Text({ max: 128, pattern: RANDOM }) nonce!: string;
  @Text({ max: 128, pattern: RANDOM }) codeVerifier!: string;
}

export class CompleteDeviceSignInDto {
  @Text({ max: 1_024 }) deviceCode!: string;
}

export class SingleSignOnDto {
  @ApiProperty({ description: 'The address of the provider, for the browser.' }) url!: string;
  @ApiProperty({ description: 'Keep it in the browser until the provider sends it back.' })
  state!: string;
  @ApiProperty({ description: 'Keep it likewise.' }) nonce!: string;
  @ApiProperty({ description: 'Keep it likewise, and show it to nobody.' }) codeVerifier!: string;
}

export class DeviceSignInDto {
  @ApiProperty({ description: 'Completes the sign-in. Show it to nobody.' }) deviceCode!: string;
  @ApiProperty({ description: 'The user enters it at `verificationUri`.' }) userCode!: string;
  @ApiProperty() verificationUri!: string;
  @ApiProperty({ type: String, nullable: true, description: 'The address with the code in it.' })
  verificationUriComplete!: string | null;
  @ApiProperty({ description: 'Seconds between two requests to complete it.' })
  intervalSeconds!: number;
  @ApiProperty() expiresInSeconds!: number;
}

export class SingleSignInDto extends TokenPairDto {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The address at which the browser also ends the session at the provider.',
  })
  signOutUrl!: string | null;
}

export class SingleSignOnMethodDto {
  @ApiProperty({ description: 'OIDC_NAME' }) name!: string;
}

export class SignInMethodsDto {
  @ApiProperty({ description: 'Whether passwords sign in.' }) password!: boolean;
  @ApiProperty({ type: SingleSignOnMethodDto, nullable: true })
  singleSignOn!: SingleSignOnMethodDto | null;
}
