export function Brand() {
  return (
    <div className="brand">
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <rect width="16" height="16" rx="4" fill="#5b5bd6" />
        <path
          d="M5 4h3a4 4 0 0 1 0 8H5z"
          fill="none"
          stroke="#fff"
          strokeWidth="1.8"
          strokeLinejoin="round"
        />
      </svg>
      Drover
    </div>
  );
}
