"""Max-pooling on the way out, as CONFIG_ST sets it."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Pooling"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pooling:
    """Windows over an image whose pixels are consecutive local rows, row by row."""

    size: int
    """Rows and columns of a window."""
    stride: int
    """From one window to the next."""
    top: int
    """Rows of zeros above the image."""
    left: int
    """Columns of zeros left of the image."""
    pitch: int
    """Pixels in memory from one row of results to the next."""
    rows: int
    """Of results."""
    cols: int
    """Of results."""
    image_rows: int
    image_cols: int

    @classmethod
    def decode(cls, values: Mapping[str, int]) -> "Pooling | None":
        """What the operands of CONFIG_ST say; None if nothing is pooled."""
        if not values["pool_stride"]:
            return None
        return cls(
            size=values["pool_size"],
            stride=values["pool_stride"],
            top=values["pool_top_pad"],
            left=values["pool_left_pad"],
            pitch=values["pool_pitch"],
            rows=values["pool_rows"],
            cols=values["pool_cols"],
            image_rows=values["image_rows"],
            image_cols=values["image_cols"],
        )

    @property
    def pixels(self) -> int:
        """Local rows of the image."""
        return self.image_rows * self.image_cols
