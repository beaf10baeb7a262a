// LOOP_CONV_WS.  Local memories hold a row for each pixel and each dim channels; a product has the
// pixels of a row of the output as its rows, and the channels of one element of the kernel (or of
// several, where pixels share rows) as its inner dimension.
#include <algorithm>

#include "loops.h"

namespace celosia {

// Sizes of the tile, in pixels and channels, under Gemmini's names.
struct ConvolutionLoop::Sizes {
  int64_t batches, orows, ocols, ochs, krows, kcols, kchs, stride, dilation;
  int64_t irows, icols, irows_inside, icols_inside;  // With and without padding.
  int64_t upad, lpad, rpad, dpad;                    // Of the input as it is stored.
  int64_t pixels;                                    // Of a kernel's row, in one local row.
  uint32_t down, a, b, bias, output;                 // Shift of downsampling; places.

  int64_t input_rows() const { return (irows >> down) * (icols >> down); }  // Of an image.
  int64_t output_rows() const { return batches * orows * ocols; }           // Of a channel block.
};

bool ConvolutionLoop::take(const Command& command, const Emit& emit) {
  switch (command.funct) {
    case LoopConv1::kFunct:
      return one_ = LoopConv1(command), true;
    case LoopConv2::kFunct:
      return two_ = LoopConv2(command), true;
    case LoopConv3::kFunct:
      return three_ = LoopConv3(command), true;
    case LoopConv4::kFunct:
      return four_ = LoopConv4(command), true;
    case LoopConv5::kFunct:
      return five_ = LoopConv5(command), true;
    case LoopConv6::kFunct:
      return six_ = LoopConv6(command), true;
    case LoopConvWs::kFunct:
      loop_ = LoopConvWs(command);
      run(emit);
      return true;
    default:
      return false;
  }
}

void ConvolutionLoop::run(const Emit& emit) {
  Sizes s;
  auto halved = [&](int64_t x) { return loop_.input_dilated() ? (x + 1) / 2 : x; };
  s.batches = two_.batches(), s.ochs = two_.pochs(), s.kchs = three_.kchs();
  s.orows = four_.orows(), s.ocols = four_.ocols();
  s.krows = three_.krows(), s.kcols = three_.kcols();
  s.stride = one_.stride(), s.dilation = std::max<int64_t>(1, four_.kernel_dilation());
  s.down = uint32_t(loop_.downsample());
  int64_t irows = s.orows * s.stride + s.krows + (s.dilation - 1) * (s.krows - 1) - 1;
  int64_t icols = s.ocols * s.stride + s.kcols + (s.dilation - 1) * (s.kcols - 1) - 1;
  s.irows_inside = halved(irows - int64_t(three_.upad()) - int64_t(three_.dpad()));
  s.icols_inside = halved(icols - int64_t(three_.lpad()) - int64_t(three_.rpad()));
  s.upad = halved(three_.upad()), s.dpad = halved(three_.dpad());
  s.lpad = halved(three_.lpad()), s.rpad = halved(three_.rpad());
  s.irows = loop_.input_dilated() ? s.irows_inside + s.upad + s.dpad : irows;
  s.icols = loop_.input_dilated() ? s.icols_inside + s.lpad + s.rpad : icols;
  // Pixels may share a row where those that meet a row of the kernel are neighbors.
  bool packs = c_.convolution && s.dilation == 1 && !loop_.rotate() && !s.down &&
               !loop_.input_dilated() && !loop_.trans_input_3120() && !loop_.trans_weight_0132();
  int64_t dim = c_.dim, most = packs ? dim / std::max<int64_t>(1, s.kchs) : 1;
  s.pixels = std::max<int64_t>(1, std::min<int64_t>(loop_.max_pixels(), most));

  int64_t half = c_.scratchpad_rows / 2;
  int64_t across = loop_.trans_weight_0132() ? s.kchs : s.ochs;  // Channels along local rows.
  int64_t along = loop_.trans_weight_0132() ? s.ochs : s.kchs;
  int64_t weights = (across + dim - 1) / dim * s.krows * s.kcols * along;
  s.a = a_half_.choose(loop_.a_half()) * uint32_t(half);
  s.b = uint32_t((b_half_.choose(loop_.b_half()) + 1) * half - weights);
  int64_t rows = (s.ochs + dim - 1) / dim * s.output_rows(), limit = c_.accumulator_rows / 2;
  s.output = kAccumulatorBit | (rows <= limit ? output_half_.now() * uint32_t(limit) : 0);
  if (six_.bias()) load_bias(emit, s);
  if (six_.input()) load_input(emit, s);
  if (five_.weights()) load_weights(emit, s);
  compute(emit, s);
  if (!five_.output()) return;
  loop_.no_pool() ? store(emit, s) : store_pooled(emit, s);
  output_half_.turn();
}

void ConvolutionLoop::load_bias(const Emit& emit, const Sizes& s) const {
  int64_t dim = c_.dim, most = dim * c_.max_accumulator_blocks;
  emit(ConfigLd().set(2).block_stride(uint64_t(s.output_rows())).command);
  for (int64_t row = 0; row < s.batches * s.orows; row++)
    for (int64_t ocol = 0; ocol < s.ocols; ocol += dim)
      for (int64_t och = 0; och < s.ochs; och += most)
        emit(Mvin3()
                 .dram(loop_.no_bias() ? 0 : six_.bias() + uint64_t(och) * 4)
                 .local(s.output + uint64_t(och / dim * s.output_rows() + row * s.ocols + ocol))
                 .local_cols(uint64_t(std::min(most, s.ochs - och)))
                 .local_rows(uint64_t(std::min(dim, s.ocols - ocol)))
                 .command);
}

void ConvolutionLoop::load_input(const Emit& emit, const Sizes& s) const {
  bool turned = loop_.trans_input_3120();  // Images take the place of channels, and vice versa.
  int64_t across = turned ? s.batches : s.kchs, along = turned ? s.kchs : s.batches;
  int64_t dim = c_.dim, most = dim * (s.pixels > 1 ? 1 : c_.max_blocks);
  int64_t pixel = turned ? one_.batch_size() : four_.in_stride();  // Elements.
  int64_t in_rows = one_.in_rows(), in_cols = three_.in_cols();
  emit(ConfigLd()
           .stride(uint64_t(pixel << s.down))
           .block_stride(uint64_t(along * s.input_rows()))
           .pixel_repeats(uint64_t(s.pixels))
           .command);
  for (int64_t image = 0; image < along; image++)
    for (int64_t row = -s.upad; row < s.irows_inside + s.dpad; row += 1 + s.down)
      for (int64_t col = -s.lpad, cols; col < s.icols_inside + s.rpad; col += cols) {
        bool outside = row < 0 || row >= s.irows_inside || col < 0 || col >= s.icols_inside;
        int64_t end = col < 0 ? 0 : s.icols_inside + (col < s.icols_inside ? 0 : s.rpad);
        cols = std::min(dim << (outside ? 0 : s.down), end - col);
        int64_t local = ((row + s.upad) >> s.down) * (s.icols >> s.down);
        local += (col + s.lpad) >> s.down;
        for (int64_t first = 0; first < across; first += most) {
          int64_t at = ((image * in_rows + row) * in_cols + col) * pixel + first;
          emit(Mvin()
                   .dram(outside ? 0 : six_.input() + uint64_t(at))
                   .local(s.a + uint64_t((first / dim * along + image) * s.input_rows() + local))
                   .local_cols(uint64_t(std::min(most, across - first)))
                   .local_rows(uint64_t(cols >> s.down))
                   .command);
        }
      }
}

void ConvolutionLoop::load_weights(const Emit& emit, const Sizes& s) const {
  bool turned = loop_.trans_weight_0132();
  int64_t across = turned ? s.kchs : s.ochs, along = turned ? s.ochs : s.kchs;
  int64_t dim = c_.dim, most = dim * c_.max_blocks, kernel = int64_t(two_.kernel_dim());
  int64_t in = one_.in_channels(), out = one_.out_channels(), pitch = four_.weight_stride();
  int64_t row_stride = turned ? in : loop_.trans_weight_1203() ? kernel * kernel * out : pitch;
  emit(ConfigLd()
           .set(1)
           .stride(uint64_t(loop_.depthwise() ? 1 : row_stride))
           .block_stride(uint64_t(s.krows * s.kcols * along))
           .command);
  for (int64_t a = 0; a < across; a += most)
    for (int64_t krow = 0; krow < s.krows; krow++)
      for (int64_t kcol = 0; kcol < s.kcols; kcol++)
        for (int64_t row = 0; row < along; row += dim) {
          int64_t block = (a / dim * s.krows + krow) * s.kcols + kcol;
          int64_t place = krow * kernel + kcol, kch = turned ? a : row, och = turned ? row : a;
          int64_t at = (place * in + kch) * pitch + och;
          if (loop_.depthwise()) at = place;
          else if (loop_.trans_weight_1203()) at = (kch * kernel * kernel + place) * out + och;
          else if (turned) at = (place * out + och) * in + kch;
          emit(Mvin2()
                   .dram(five_.weights() + uint64_t(at))
                   .local(s.b + uint64_t(block * along + row))
                   .local_cols(uint64_t(std::min(most, across - a)))
                   .local_rows(uint64_t(std::min(dim, along - row)))
                   .command);
        }
}

void ConvolutionLoop::compute(const Emit& emit, const Sizes& s) const {
  int64_t dim = c_.dim, at[4];
  if (loop_.trans_input_3120())
    emit(ConfigEx()
             .strides_only(1)
             .a_stride(uint64_t(s.input_rows()))
             .c_stride(uint64_t(s.orows * s.ocols))
             .command);
  for (at[0] = 0; at[0] < s.ochs; at[0] += dim)
    for (at[1] = 0; at[1] < s.krows; at[1]++)
      for (at[2] = 0; at[2] < s.kcols; at[2] += s.pixels)
        for (at[3] = 0; at[3] < s.kchs; at[3] += dim) compute_rows(emit, s, at);
}

// All products with the weights of one place: output channel, row, column, input channel.
void ConvolutionLoop::compute_rows(const Emit& emit, const Sizes& s, const int64_t* at) const {
  bool dilated = loop_.input_dilated(), turned = loop_.trans_input_3120(), fresh = true;
  auto halved = [&](int64_t x) { return dilated ? (x + 1) / 2 : x; };
  int64_t och = at[0], krow = at[1], kcol = at[2], kch = at[3], dim = c_.dim;
  int64_t inner = std::min(s.pixels, s.kcols - kcol) * std::min(dim, s.kchs - kch);
  int64_t cols = std::min(dim, s.ochs - och), wide = dilated ? 2 * dim : dim;
  int64_t wrow = loop_.rotate() ? s.krows - 1 - krow : krow;
  int64_t wcol = loop_.rotate() ? s.kcols - 1 - kcol : kcol, place = wrow * s.kcols + wcol;
  int64_t w = loop_.trans_weight_0132() ? (kch / dim * s.krows * s.kcols + place) * s.ochs + och
                                        : (och / dim * s.krows * s.kcols + place) * s.kchs + kch;
  for (int64_t b = 0; b < s.batches; b += turned ? dim : 1)
    for (int64_t orow = 0; orow < s.orows; orow++) {
      if (dilated && (krow * s.dilation + orow - int64_t(three_.upad())) & 1) continue;
      for (int64_t ocol = 0, step; ocol < s.ocols; ocol += step) {
        step = 1;
        if (dilated && (kcol * s.dilation + ocol - int64_t(three_.lpad())) & 1) continue;
        if (!turned) step = wide;
        int64_t rows = halved(std::min(wide, s.ocols - ocol));
        if (turned) rows = std::min(dim, s.batches - b);
        int64_t irow = halved(orow * s.stride + krow * s.dilation) >> s.down;
        int64_t icol = halved(ocol * s.stride + kcol * s.dilation) >> s.down;
        int64_t image = turned ? b / dim * s.kchs + kch : kch / dim * s.batches + b;
        int64_t a = image * s.input_rows() + irow * (s.icols >> s.down) + icol;
        int64_t c = och / dim * s.output_rows() + (b * s.orows + orow) * s.ocols + ocol;
        emit(Preload()
                 .b(fresh ? s.b + uint64_t(w) : kGarbage)
                 .b_cols(uint64_t(cols))
                 .b_rows(uint64_t(inner))
                 .c((s.output | kAccumulateBit) + uint64_t(c))
                 .c_cols(uint64_t(cols))
                 .c_rows(uint64_t(rows))
                 .command);
        ComputePreloaded product;
        product.a(s.a + uint64_t(a)).a_cols(uint64_t(inner)).a_rows(uint64_t(rows));
        product.d(kGarbage).d_cols(uint64_t(cols)).d_rows(uint64_t(rows));
        if (!fresh) product.command.funct = ComputeAccumulated::kFunct;
        emit(product.command);
        fresh = false;
      }
    }
}

void ConvolutionLoop::store(const Emit& emit, const Sizes& s) const {
  int64_t dim = c_.dim, out_rows = one_.out_rows(), out_cols = one_.out_cols();
  int64_t pixel = loop_.trans_output_1203() ? one_.out_channels() : four_.out_stride();
  for (int64_t b = 0; b < s.batches; b++)
    for (int64_t orow = 0; orow < s.orows; orow++)
      for (int64_t ocol = 0; ocol < s.ocols; ocol += dim)
        for (int64_t och = 0; och < s.ochs; och += dim) {
          int64_t place = loop_.trans_output_1203()
                              ? (orow * out_cols + ocol) * int64_t(one_.batch_size()) + b
                              : (b * out_rows + orow) * out_cols + ocol;
          int64_t local = och / dim * s.output_rows() + (b * s.orows + orow) * s.ocols + ocol;
          emit(Mvout()
                   .dram(five_.output() + uint64_t(place * pixel + och))
                   .local(s.output + uint64_t(local))
                   .local_cols(uint64_t(std::min(dim, s.ochs - och)))
                   .local_rows(uint64_t(std::min(dim, s.ocols - ocol)))
                   .command);
        }
}

void ConvolutionLoop::store_pooled(const Emit& emit, const Sizes& s) const {
  int64_t dim = c_.dim;
  ConfigSt plain = ConfigSt().activation(loop_.activation()).stride(four_.out_stride());
  plain.scale(kKeepScale);
  ConfigSt pooled = plain;
  pooled.pool_stride(two_.pool_stride()).pool_size(two_.pool_size());
  pooled.pool_top_pad(four_.pupad()).pool_left_pad(three_.plpad());
  pooled.pool_pitch(two_.pool_out_cols()).pool_rows(two_.porows()).pool_cols(two_.pocols());
  emit(pooled.image_rows(uint64_t(s.orows)).image_cols(uint64_t(s.ocols)).command);
  int64_t image = one_.pool_out_rows() * two_.pool_out_cols() * four_.out_stride();
  for (int64_t b = 0; b < s.batches; b++)
    for (int64_t och = 0; och < s.ochs; och += dim)
      emit(Mvout()
               .dram(five_.output() + uint64_t(b * image + och))
               .local(s.output + uint64_t(och / dim * s.output_rows() + b * s.orows * s.ocols))
               .local_cols(uint64_t(std::min(dim, s.ochs - och)))
               .local_rows(1)
               .command);
  emit(plain.command);
}

}  // namespace celosia
