import { ApiProperty, OmitType } from '@nestjs/swagger';
import type { UserHook } from '../workspaces/member-hooks.js';
import { MemberHookDto } from './workspaces-answers.dto.js';

export class UserDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() email!: string;
  @ApiProperty() name!: string;
  @ApiProperty() isOperator!: boolean;
  @ApiProperty({
    description:
      'Whether the address is known to be of the user. False after a sign-up by invitation or OPEN_SIGN_UP.',
  })
  emailVerified!: boolean;
  @ApiProperty({ type: Date, nullable: true }) disabledAt!: Date | null;
  @ApiProperty() version!: number;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() updatedAt!: Date;
}

export class UserHookDto extends OmitType(MemberHookDto, ['description']) implements UserHook {
  @ApiProperty({ format: 'uuid' }) workspaceId!: string;
}

export class ChangedUserDto extends UserDto {
  @ApiProperty({
    type: [UserHookDto],
    description: 'The enabled hooks that the user created, if the request disables the user',
  })
  hooks!: UserHookDto[];
}

export class NewUserDto extends UserDto {
  @ApiProperty({
    required: false,
    description: 'The generated password, if the request has none. Only this answer shows it.',
  })
  generatedPassword?: string;
}

export class UserPageDto {
  @ApiProperty({ type: [UserDto] }) items!: UserDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class NewPasswordDto {
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({ description: 'Only this answer shows it.' }) generatedPassword!: string;
}
