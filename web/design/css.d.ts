// The bundler takes style sheets from imports.
declare module '*.css';
