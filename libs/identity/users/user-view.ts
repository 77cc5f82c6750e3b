import type { UserRow } from '../store/users.sql.js';

/** A user as the API shows one. */
export interface UserView {
  id: string;
  email: string;
  name: string;
  isOperator: boolean;
  disabledAt: Date | null;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export function toUserView(row: UserRow): UserView {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    isOperator: row.is_operator,
    disabledAt: row.disabled_at,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
